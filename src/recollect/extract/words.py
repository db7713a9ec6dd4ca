"""The words the rules know: verbs and their forms, kin, jobs, tools, and the small words that mean nothing here.

Lists instead of patterns: a lookup is a microsecond, grows no worse on long texts, and can be read by anyone who wonders
why a sentence was kept.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@cache
def one_of(text: str) -> frozenset[str]:
    """The words of a text, as a set to look one up in; made once."""
    return frozenset(text.split())


_set = one_of


IRREGULAR = {
    base: tuple(forms)
    for base, *forms in (
        line.split()
        for line in """be is was been being
have has had had having
do does did done doing
go goes went gone going
get gets got gotten getting
come comes came come coming
eat eats ate eaten eating
drink drinks drank drunk drinking
drive drives drove driven driving
speak speaks spoke spoken speaking
know knows knew known knowing
write writes wrote written writing
teach teaches taught taught teaching
read reads read read reading
run runs ran run running
swim swims swam swum swimming
sing sings sang sung singing
make makes made made making
take takes took taken taking
wear wears wore worn wearing
keep keeps kept kept keeping
sleep sleeps slept slept sleeping
wake wakes woke woken waking
meet meets met met meeting
leave leaves left left leaving
build builds built built building
sell sells sold sold selling
buy buys bought bought buying
lose loses lost lost losing
find finds found found finding
give gives gave given giving
grow grows grew grown growing
begin begins began begun beginning
quit quits quit quit quitting
pay pays paid paid paying
send sends sent sent sending
lead leads led led leading
hold holds held held holding
hide hides hid hidden hiding
fly flies flew flown flying
ride rides rode ridden riding
win wins won won winning
become becomes became become becoming
see sees saw seen seeing
say says said said saying
tell tells told told telling
think thinks thought thought thinking
feel feels felt felt feeling
bring brings brought brought bringing
choose chooses chose chosen choosing
break breaks broke broken breaking
spend spends spent spent spending
set sets set set setting
put puts put put putting
ship ships shipped shipped shipping
drop drops dropped dropped dropping
stop stops stopped stopped stopping
plan plans planned planned planning
submit submits submitted submitted submitting
prefer prefers preferred preferred preferring
refer refers referred referred referring
knit knits knitted knitted knitting
commit commits committed committed committing
cancel cancels cancelled cancelled cancelling
get_up gets_up got_up gotten_up getting_up
do_up does_up did_up done_up doing_up
understand understands understood understood understanding
forget forgets forgot forgotten forgetting
hang hangs hung hung hanging
catch catches caught caught catching
feed feeds fed fed feeding
draw draws drew drawn drawing
fix fixes fixed fixed fixing
cut cuts cut cut cutting
let lets let let letting
shut shuts shut shut shutting
rewrite rewrites rewrote rewritten rewriting
redo redoes redid redone redoing
throw throws threw thrown throwing
sit sits sat sat sitting
stand stands stood stood standing
swap swaps swapped swapped swapping
rid rids rid rid ridding
book books booked booked booking
marry marries married married marrying
study studies studied studied studying
""".splitlines()
    )
    if base
}

REGULAR = (
    "live work like love hate dislike enjoy use play own study follow support collect weigh listen watch cook bake paint"
    " dance garden surf ski climb hike meditate practise practice coach volunteer manage maintain train avoid adore"
    " despise detest fear handle report belong identify suffer subscribe attend celebrate code program rent host deploy"
    " release target test store track operate move relocate switch migrate join start adopt transfer graduate retire"
    " smoke vape commute cycle jog stream produce develop design sail fish hunt box vote consult freelance need want"
    " believe reside listen walk visit learn call email phone text mail file renew fix finish complete clean wash"
    " water pick order schedule reserve prepare return update upgrade add remove delete review merge push refactor"
    " rename rotate resolve close open install configure document publish cancel check sign print pack move print"
    " register apply apologise apologize contact message ask invite confirm arrange organise organize repair replace"
    " back-up implement deliver investigate draft translate record upload download turn mark cross tick settle transfer"
    " backup approve talk discuss launch patch bump vacuum mow iron charge refill enter change decide end land arrive"
    " depart expire happen last cost include contain require expect serve consist listen depend measure count specialise"
    " specialize major earn tend stay remain share care trust miss value appreciate abhor loathe favour favor spell name"
    " contribute mentor supervise oversee head chair manage present perform record compete exercise"
    " snore foster raise breed ferment brew roast garden journal blog podcast tweet post handle cover own point listen"
    " expose accept cache log back mirror sync generate compile render ship span belong help plan hope love admire"
    " date marry divorce separate retire recover answer reply respond communicate format explain address cite rely lean swear earn replace swap trade pass die park sail ignore disregard skip mention greet highlight prefix append suggest recommend"
    " assume verify validate wrap indent sort list capitalize capitalise summarise summarize exclude omit number label warn"
    " notify tag squash rebase lint benchmark quote link convert translate limit round prioritise prioritize treat refer unsubscribe resign uninstall unfollow"
).split()


def _forms(base: str) -> tuple[str, str, str, str]:
    if base in IRREGULAR:
        third, past, participle, ing = IRREGULAR[base]
        return third, past, participle, ing
    vowelled = base[-2:-1] in "aeiou"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        third = base + "es"
    elif base.endswith("y") and not vowelled:
        third = base[:-1] + "ies"
    else:
        third = base + "s"
    if base.endswith("e"):
        return third, base + "d", base + "d", (base if base.endswith(("ee", "ye", "oe")) else base[:-1]) + "ing"
    if base.endswith("y") and not vowelled:
        return third, base[:-1] + "ied", base[:-1] + "ied", base + "ing"
    if base in _DOUBLED:
        base += base[-1]
    return third, base + "ed", base + "ed", base + "ing"


_DOUBLED = _set(
    "jog plan stop drop ship chat hop shop rub hug pin tag log wrap trip slip program mop pet bet ban scan refer"
)

THIRD: dict[str, str] = {}
"""Third person singular -> base."""
PAST: dict[str, str] = {}
"""Past tense -> base."""
PARTICIPLE: dict[str, str] = {}
"""Past participle -> base."""
ING: dict[str, str] = {}
"""Present participle -> base."""
BASES = frozenset([*IRREGULAR, *REGULAR])
for _base in BASES:
    _third, _past, _participle, _ing = _forms(_base)
    THIRD[_third] = _base
    PAST[_past] = _base
    PARTICIPLE[_participle] = _base
    ING[_ing] = _base
PAST |= {"quitted": "quit", "learnt": "learn", "dreamt": "dream", "canceled": "cancel", "programmed": "program"}
PARTICIPLE |= {"got": "get", "learnt": "learn", "canceled": "cancel"}
ING |= {"canceling": "cancel", "living": "live"}


def third(base: str) -> str:
    """`live` -> `lives`: any verb, known or not."""
    return _forms(base)[0]


def base_of(word: str) -> str:
    """The base of a verb's form, known or guessed; the word itself when it looks like none."""
    for table in (THIRD, PAST, PARTICIPLE, ING):
        if word in table:
            return table[word]
    if word in BASES:
        return word
    if word.endswith("ing") and len(word) > 5:
        stem = word[:-3]
        return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ed") and len(word) > 4:
        stem = word[:-2]
        return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
    return word


# What a person says of themselves with these in the present tense is worth keeping.
STATES = _set(
    """swear lean depend rely live work prefer like love hate dislike enjoy use speak play own drive have study teach eat drink follow support
    collect wear weigh listen cook bake paint sing dance knit garden surf ski climb hike meditate practise practice coach
    volunteer manage lead maintain avoid adore despise detest fear handle report belong identify suffer subscribe attend
    celebrate code program sell rent host deploy ship release target store track operate smoke vape commute cycle jog
    swim run know come reside go take watch read write build keep test meet get wake sleep train favour favor loathe
    specialise specialize major earn admire mentor supervise oversee head chair contribute exercise raise breed brew
    journal blog ride fly sail fish hunt grow design develop freelance consult date cover need walk share stay stream
    require expect start finish develop log cache generate mirror"""
)
# These are said of any moment too ("I get an error", "I run the script"): they need a habit or a known object.
WEAK = _set(
    """go take watch read write build keep test meet get wake sleep train run handle need start finish share stay cover
    walk develop design grow log cache generate expect require know"""
)
HABIT = _set("only usually always often typically normally generally mostly sometimes rarely seldom regularly never")
HABIT_PHRASES = ("every ", "each ", "once a ", "twice a ", "times a ", "on mondays", "on tuesdays", "on wednesdays",
                 "on thursdays", "on fridays", "on saturdays", "on sundays", "on weekends", "at weekends", "on weekdays",
                 "daily", "weekly", "for a living", "for fun", "in my free time", "in my spare time", "before bed",
                 "in the mornings", "in the evenings", "most days", "most evenings", "all the time")  # fmt: skip
LIKES = {"like": 1, "love": 1, "enjoy": 1, "adore": 1, "favour": 1, "favor": 1, "admire": 1, "hate": -1, "dislike": -1,
         "despise": -1, "detest": -1, "loathe": -1, "abhor": -1, "appreciate": 1}  # fmt: skip

# -ing forms that are worth keeping after "I'm": what goes on for weeks, not what happens at the screen just now.
GOING_ON = _set(
    """learning studying working building reading writing dating moving planning looking using training living saving
    expecting raising running developing designing migrating switching getting taking teaching leading managing
    preparing renovating organizing organising travelling traveling hosting launching starting leaving volunteering
    relocating retiring recovering maintaining considering practising practicing rebuilding rewriting seeing applying
    flying visiting hiring selling buying adopting renting fasting dieting wearing playing following supporting
    deploying targeting storing tracking porting freelancing consulting interning mentoring coaching specialising
    specializing majoring joining rolling phasing playing researching pursuing editing recording competing growing"""
)
# States after "I'm" / "my X is" that last. Anything else ("sorry", "sure", "stuck", "back") is a passing word.
LASTING = _set(
    """vegetarian vegan pescatarian omnivore kosher halal celiac coeliac diabetic asthmatic epileptic dyslexic autistic
    allergic intolerant lactose-intolerant gluten-free left-handed right-handed ambidextrous colourblind colorblind
    colour-blind color-blind deaf blind married single divorced engaged widowed pregnant retired unemployed self-employed
    freelance bilingual trilingual jewish muslim christian catholic hindu buddhist atheist agnostic sikh protestant
    american british german french italian spanish dutch swiss austrian polish russian ukrainian indian chinese japanese
    korean brazilian mexican canadian australian irish scottish welsh english portuguese swedish norwegian danish finnish
    greek turkish iranian israeli egyptian nigerian kenyan ghanaian argentinian chilean colombian peruvian vietnamese thai
    filipino indonesian pakistani belgian hungarian czech slovak slovenian croatian serbian romanian bulgarian estonian
    latvian lithuanian icelandic gay straight bisexual lesbian trans nonbinary non-binary introverted extroverted shy
    claustrophobic nearsighted short-sighted farsighted long-sighted shortsighted dairy-free sober teetotal adopted
    ex-military"""
)
# Nouns after "I'm a ..." that pass, or say nothing.
PASSING = _set("bit little lot mess fool idiot genius failure wreck moment second minute tad while sec joke human bot")

KIN_ONE = _set(
    """wife husband partner spouse girlfriend boyfriend fiance fiancé fiancee fiancée mother mom mum mama father dad papa
    boss manager landlord landlady doctor dentist therapist gp accountant lawyer supervisor mentor advisor adviser
    roommate flatmate ceo cto cfo coo teacher trainer"""
)
KIN_MANY = _set(
    """sister brother son daughter child kid kids children cousin uncle aunt nephew niece friend grandmother grandma
    grandfather grandpa granny nan grandson granddaughter sibling twin neighbour neighbor colleague coworker co-worker
    teammate classmate client customer student parents grandparents godson goddaughter stepson stepdaughter stepbrother
    stepsister stepmother stepfather ex"""
)
PETS = _set(
    "cat dog puppy kitten hamster rabbit parrot horse pony fish goldfish tortoise turtle pet bird guinea-pig snake"
)
KIN = KIN_ONE | KIN_MANY | PETS

# Nouns of a person's life of which something is learned as of a project: "the flight is ...".
LIFE = _set(
    """school course exam flight train trip wedding party house flat apartment kitchen garden car wifi wi-fi
    appointment landlord clinic thermostat alarm"""
)
# The head nouns of a project: "the staging server is ..." is a fact, "the answer is ..." is not.
WORK = _set(
    """class frontend front-end backend back-end api server service services production prod staging database db repo
    repository codebase monorepo website site app application product platform infrastructure infra cluster pipeline
    ci build release deployment deploy freeze deadline meeting standup stand-up retro sprint budget office team
    company startup client customer project queue cache bucket domain certificate migration branch schema endpoint
    dashboard worker scheduler job cron backup backups logs documentation docs wiki board tests test-suite suite
    framework library package module component cdn gateway proxy firewall vpn registry image container instance
    region stack kickoff demo launch milestone roadmap contract license licence invoice workshop conference password
    passphrase port hostname interview call event key code door standups design styleguide linter formatter plan
    quota limit rate cto ceo cfo lead maintainer owner handbook newsletter store shop warehouse router printer lab
    customers users"""
)
PROJECT = WORK | LIFE
# Nouns after "my" / "our" that point at the talk itself.
TALK = _set(
    """code script question problem issue error guess point program function query bug output understanding mistake bad
    idea command loop screen request answer message prompt input example sentence text paragraph essay email-draft
    snippet result results attempt solution approach assumption thought thoughts feeling concern concerns bet impression
    opinion turn apologies apology god goodness word words hypothesis intention compiler traceback file files page
    regex variable class method array list dict dictionary object string table column row cell formula build tests test
    pipeline terminal internet cursor question's mind"""
)
TROUBLE = _set(
    """error errors exception exceptions traceback segfault segfaults crash crashes crashing crashed failing fails failed
    broken stuck hangs hanging freezing frozen wrong undefined null nan timeout warning warnings
    slow empty weird strange confusing confused working"""
)

# Words of a wish about how the person is answered, which is theirs wherever they are.
ANSWERING = _set(
    """answer answers answering reply replies respond response responses explain explanation explanations summary summarise summarize
    speak talk address call me tone emoji emojis bullet apologise apologize concise brief formal informal jargon joke jokes units
    celsius fahrenheit"""
)

LANGUAGES = _set(
    """english german french spanish italian portuguese dutch polish russian ukrainian czech slovak slovenian croatian
    serbian hungarian romanian bulgarian greek turkish arabic hebrew persian farsi hindi urdu bengali punjabi tamil
    telugu mandarin cantonese chinese japanese korean vietnamese thai indonesian malay tagalog swahili amharic swedish
    norwegian danish finnish icelandic estonian latvian lithuanian irish welsh catalan basque galician latin esperanto
    afrikaans zulu yoruba igbo georgian armenian albanian macedonian bosnian"""
)
TOOL_NOUNS = _set(
    """editor ide browser shell terminal database framework os distro language library bundler linter formatter
    infrastructure cloud ci phone laptop computer keyboard orm queue cache broker host provider email calendar bank
    stack tool"""
)
RIVALS = {
    name: n
    for n, group in enumerate(
        """npm pnpm yarn bun|mysql postgres postgresql mariadb mongodb sqlite oracle|vim neovim emacs vscode nano sublime|chrome firefox
        safari edge brave opera|jira linear asana trello|slack teams discord mattermost|aws gcp azure|heroku render fly.io vercel netlify railway
        |jenkins circleci travis buildkite teamcity|webpack vite rollup esbuild parcel|react vue svelte angular|bash zsh fish
        |windows macos linux ubuntu fedora debian|scrum kanban|kubernetes nomad swarm|rest graphql grpc|kafka rabbitmq sqs nats|black ruff
        |jest vitest mocha|spotify tidal deezer|android iphone pixel galaxy|notion obsidian evernote|figma sketch|python rust go java typescript ruby
        kotlin|email phone sms|tabs spaces|gmail outlook proton fastmail|git mercurial|flask django fastapi|sql-server snowflake bigquery
        |tea coffee decaf espresso matcha chai
        """.replace("\n", " ").split("|")
    )
    for name in group.split()
}  # fmt: skip
"""What people use one of at a time, by kind: with "now", one takes the place of the other."""
DRINKS = _set(
    "tea coffee decaf espresso matcha chai beer wine water juice milk cola coke soda lemonade kombucha cappuccino"
)
DIETS = {"vegetarian": "vegetarian", "vegan": "vegan", "pescatarian": "pescatarian", "omnivore": "meat", "veggie": "vegetarian",
         "carnivore": "meat"}  # fmt: skip
MARITAL = _set("single married divorced engaged widowed separated")
JOB_HEADS = _set(
    """nurse doctor chef cook lawyer student teacher engineer developer programmer designer analyst consultant manager
    architect scientist researcher professor lecturer accountant architect pilot electrician plumber carpenter mechanic
    journalist writer author editor photographer artist musician actor actress barista waiter waitress bartender cashier
    driver firefighter paramedic pharmacist dentist surgeon psychologist therapist physiotherapist vet veterinarian
    farmer gardener librarian translator interpreter secretary administrator sysadmin devops sre founder ceo cto cfo
    freelancer contractor intern apprentice trainee postdoc phd biologist chemist physicist mathematician statistician
    economist banker trader broker realtor salesperson marketer recruiter soldier officer policeman policewoman detective
    judge paralegal midwife carer caregiver nanny janitor cleaner technician tester welder builder roofer painter
    butcher baker florist hairdresser barber tailor jeweller jeweler director producer animator illustrator copywriter
    strategist planner coordinator assistant receptionist clerk bookkeeper auditor actuary underwriter dev pm
    entrepreneur tutor principal counselor counsellor pastor priest rabbi imam monk politician diplomat undergraduate
    undergrad psychiatrist radiologist optician geologist historian archaeologist astronomer"""
)

PREPOSITIONS = _set(
    """in at for with on as from to by near since until till during over than about of under into between without before
    after against via through per within because so which where when while that who except instead rather like"""
)
MONTHS = _set(
    """january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec"""
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = {w: n for n, w in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())}
STOP = _set(
    """a an the is are was were am be been being do does did has have had of to in on at for with by from as and or but
    so that this these those it its i me my we our us you your they them their theirs he she his her him user s t will
    would can could should very really just also too now please always ever up out about into there here some any all
    own who which what when where not no never don doesn didn isn aren wasn weren haven hasn won cannot nt anymore any
    more longer still already currently called named name assistant than then if while because want wants"""
)


_REWRITE = {
    "my": "their", "mine": "theirs", "me": "them", "i": "they", "myself": "themselves", "our": "their", "ours": "theirs",
    "us": "them", "we": "they", "ourselves": "themselves", "am": "are", "i'm": "they're", "i've": "they've",
    "we're": "they're", "we've": "they've", "you": "the assistant", "your": "the assistant's", "yours": "the assistant's",
    "yourself": "the assistant", "i'll": "they'll", "we'll": "they'll", "i'd": "they'd", "we'd": "they'd",
}  # fmt: skip
EDGE = ".,;:!?\"'()[]*_"


def low(word: str) -> str:
    """A word without case and edges."""
    return word.strip(EDGE).lower()


def rewrite(tokens: Sequence[str]) -> list[str]:
    """Words of the first person in the third: `my kids` -> `their kids`."""
    out: list[str] = []
    for token in tokens:
        bare = token.lower().strip(EDGE)
        to = _REWRITE.get(bare)
        # "at 6 am" is a time of day, "Frankfurt am Main" a town, and the US a country.
        if (
            to is None
            or token.strip(EDGE) == "US"
            or (bare == "am" and out and (out[-1][-1:].isdigit() or out[-1][:1].isupper()))
        ):
            out.append(token)
        else:
            at = token.lower().find(bare)
            out.append(token[:at] + to + token[at + len(bare) :])
    return out


DEICTIC = frozenset("this these it here below above following that those them such something anything someone".split())
OWN_PLACES = frozenset(
    "repo project codebase workspace week month year team company house office app summer winter spring autumn repository quarter morning evening afternoon weekend".split()
)


SCREEN = frozenset(
    """list array string table file files function script dataframe data csv json column row class object loop number
    numbers set dict dictionary variable query question questions problem problems issue issues idea doubt feeling look
    trouble time thing things way hunch point request error bug code example text sentence test form button page
    headache fever cold cough stomachache deadline-question suspicion hard difficulty difficulties chance clue""".split()
)
