import type { AuditAction } from '../../packages/admin/index.ts';

/** Every sentence of the portal in English; the other languages have the same keys. */
export const en = {
  language: 'English',
  /** How numbers and dates are written. */
  locale: 'en-GB',
  percent: '%',
  frame: { skip: 'Skip to the content', menu: 'Sections', signIn: 'Sign in', signOut: 'Sign out' },
  signedInAs: (name: string) => `Signed in as ${name}`,

  contact: 'Contact',
  terms: 'Terms of service',
  privacy: 'Privacy',
  accessibility: 'Accessibility',
  welcome: 'Welcome',
  welcomeText: 'Manage the API keys of your account and see how much of your quota is left.',
  signInAgain: 'Sign in again',
  signInAgainText:
    'Your session has ended while this form was open. Nothing was saved. Sign in: the form comes back with what you typed.',
  kept: 'Here is what you typed before you signed in again. Nothing is saved yet: check it, then send it.',
  valueNow: (value: string) => `Now: ${value}`,
  showCurrent: 'Show the current values',
  signedOut: 'You are signed out',
  signedOutText:
    'This session has ended here. On a shared computer, also sign out at the provider.',
  signOutThere: 'Sign out at the provider too',
  yourAccounts: 'Your accounts',
  noAccount: 'No account yet',
  noAccountText: (identity: string) =>
    `You are signed in as ${identity}, but you are not a member of an account. Ask an administrator of your account to add you with exactly this identity:`,
  emailFaults: {
    unverified:
      'Your sign-in service did not confirm your e-mail address, so you can not be added with it.',
    form: 'Your e-mail address has characters that can not be used here, so you can not be added with it.',
  },

  tabs: {
    home: 'Home',
    overview: 'Overview',
    usage: 'Usage',
    changes: 'Changes',
    members: 'Members',
  },
  keys: 'Keys',
  api: 'API',
  manage: 'Manage',
  operatorTabs: {
    accounts: 'Accounts',
    plans: 'Plans',
    register: 'Register',
    sessions: 'Sessions',
  },

  about: { account: 'Account', state: 'State', plan: 'Plan', created: 'Created', limits: 'Limits' },
  states: {
    active: 'active',
    suspended: 'suspended',
    inactive: 'inactive',
    revoked: 'revoked',
    expired: 'expired',
  },
  suspendedText:
    'This account is suspended: every request is refused. Contact us to have it activated.',
  planInactiveText:
    'The plan of this account is inactive: every request is refused. Contact us for another plan.',
  windows: { minute: 'Per minute', hour: 'Per hour', day: 'Per day', month: 'Per month' },
  current: { minute: 'This minute', hour: 'This hour', day: 'Today', month: 'This month' },
  quota: {
    limit: 'Limit',
    used: 'Used',
    left: (left: string) => `${left} left`,
    resets: 'begins again on',
    unlimited: 'unlimited',
  },
  limitState: {
    ownLimit: '(own limit)',
    notCounted: 'not limited',
    limitReached: 'Limit reached',
  },
  usedShare: (used: string, limit: string) => `${used} of ${limit} used`,
  nearLimit: (share: string) => `${share} used`,
  ofLimit: (limit: string) => `of ${limit}`,
  usedOf: (used: string, limit: string) => `${used} of ${limit}`,
  becomes: (before: string, after: string) => `${before} becomes ${after}`,
  planHas: (limit: string) => `Plan: ${limit}`,
  refusedUntil: (window: string) =>
    `The limit ${window.toLowerCase()} is reached. Requests are refused until`,

  key: {
    label: 'Label',
    keyId: 'Key id',
    expires: 'Expires',
    lastUsed: 'Last used',
    limit: 'Limit a day',
  },
  actions: 'Actions',
  noKeys: 'There are no keys yet. Create the first one above.',
  firstKey: 'Make your first key',
  noActiveKey: 'No key works. Ask an administrator of the account to create one.',
  createKey: 'Create a key',
  createKeyText: 'Name it after the application that will use it, for instance webshop.',
  labelHint: '1 to 64 characters',
  expiresHint:
    'The last day that the key works, in Dutch time. Leave empty for a key that does not expire.',
  keyLimitHint:
    'Addresses that the key may look up in a UTC day. Empty: only the limits of the account.',
  keyLimitText:
    'Keeps this key from using up the limits of the account, for instance in a test that runs wild or in the wrong hands. It holds from the next request on.',
  keyMade: 'Your new key',
  keyMadeText:
    'Copy it now and keep it safe, like a password. It is not stored and can never be shown again.',
  act: { copy: 'Copy', copied: 'Copied', cancel: 'Cancel', save: 'Save', goOn: 'Continue' },
  back: 'Back to the keys',
  backTo: { plans: 'Back to the plans', register: 'Back to the register' },
  revoke: 'Revoke',
  rotate: 'Replace',
  revokeKey: (label: string) => `Revoke key ${label}?`,
  rotateChosen: 'Replace the chosen keys',
  rotateThem: (keys: string) => `Replace ${keys}`,
  noneChosen: 'Choose one or more keys in the list that work and are not being replaced yet.',
  keysMade: 'Your new keys',
  oldKeys: 'Keys that are being replaced',
  oldKeysText:
    'Replace an old key wherever it is still used, before it ends. The day of the replacement counts as a whole.',
  stillUsed: 'still used',
  since: (day: string) => `since ${day}`,
  revokeText: 'From now on every request with this key is refused. This can not be undone.',
  revokeYes: 'Yes, revoke this key',
  keyNamed: (label: string) => `Key ${label}`,
  revokedKeys: 'revoked keys',
  keyUse: { usedSince: 'Used since', never: 'never', notUsed: 'not yet', createdBy: 'Created by' },
  keyIdPlace: 'The id of a key is in the key, after the account. It is no secret:',
  noSuchKey: (id: string, account: string) => `Account ${account} has no key ${id}`,
  findKey: 'Which key leaked?',
  keyOrId: 'The key, or its id',
  keyOrIdHint:
    'Paste the whole key, or text that contains it. It is not stored. The checksum in the key reveals a typing error.',
  findIt: 'Find the key',
  keyFound: {
    key: 'The text that you pasted is exactly this key.',
    mistyped:
      'The text that you pasted has a wrong or missing character. This is the key with its id: make sure that it is the right key.',
    id: 'This is the key with that id.',
  },
  noKeyFound: {
    key: 'This is a key of this service, but of no account that you may see.',
    mistyped:
      'A character of this key is wrong or missing, and none of the keys that you may see has its id. Paste the whole key again.',
    id: 'No key that you may see has this id. Check it, or paste the whole key.',
  },
  recentLookups: (days: string) => `Lookups in the last ${days}`,
  keyWorks: { until: 'works until', through: 'works through', oldUntil: 'which works until' },
  replacedBy: 'replaced by',
  replaces: 'replaces',
  supplier: 'your supplier',
  rotateText:
    'The new key works at once. The old one keeps working for the time that you choose, so that no request is refused while you replace it everywhere.',
  rotateYes: 'Create the new key',
  newLabel: 'Label of the new key',
  grace: 'How long the old key keeps working',
  graces: {
    0: 'Not at all: it is refused at once',
    10: '10 minutes',
    60: '1 hour',
    1440: '1 day',
    10080: '1 week',
    43200: '30 days',
  },
  oldKey: 'The old key',
  oldKeyText: (label: string, id: string) => `Replace ${label} (${id}) everywhere. It works until`,
  confirmIdHint: 'This key is in use. Type its id, as it is shown above, to revoke it.',
  keyExists: 'This key was already created',
  keyExistsText:
    'This form was already submitted. A key is shown only once; if you did not save it, revoke it and create another one.',
  keyReplaced: {
    title: 'This key was already replaced',
    explanation:
      'It was replaced on another page or by somebody else, so no second key was created. The list of keys shows the new key; the key itself was shown once, to whoever replaced it. If it was lost, revoke it and replace the old key again.',
  },
  keyEnded: {
    title: 'This key no longer works',
    explanation: 'It was revoked or has expired since you opened this page. Create a new key.',
  },
  alreadyRevoked: 'This key was already revoked. Nothing has changed.',

  noChanges: 'Nothing has been changed yet.',
  history: { time: 'Time', actor: 'By', change: 'Change', detail: 'Detail' },
  unknownOutcome: 'It is unknown whether this was completed.',
  /** Words in a history for operators, beside limits and states. */
  detailWords: {
    before: 'before',
    person: 'person',
    email: 'e-mail',
    identity: 'identity',
    reason: 'reason',
    account: 'account',
    plan: 'plan',
    load: 'load',
    run: 'run',
    ended: 'ended',
  } as Readonly<Record<string, string>>,
  auditActions: {
    'account create': 'account created',
    'account set': 'plan, limits or details changed',
    'account suspend': 'account suspended',
    'account activate': 'account activated',
    'account delete': 'account deleted',
    'account import': 'account imported',
    'key create': 'key created',
    'key rotate': 'key replaced',
    'key rename': 'key renamed',
    'key set': 'limit of a key changed',
    'key revoke': 'key revoked',
    'member add': 'member added',
    'member remove': 'member removed',
    'plan put': 'plan created or changed',
    'load approve': 'load approved',
    'load reject': 'load rejected',
    'load run': 'load started',
    'load rollback': 'earlier snapshot made live',
    'load repair': 'live snapshot repaired',
    'load discard': 'work of a load removed',
    'load unlock': 'lock of a load removed',
    'restore carry-over': 'carried over to a restored table',
    'checksum-secret rotate': 'checksum secret replaced',
    'checksum-secret end': 'previous checksum secret ended',
    'session start': 'signed in',
    'session end': 'signed out',
    'session end-all': 'sessions ended',
    'session refuse': 'sign-in refused',
  } as Readonly<Record<AuditAction, string>>,

  member: 'Member',
  membership: {
    role: 'Role',
    you: 'you',
    changeIt: 'Change',
    leave: 'Leave',
    leaveYes: 'Yes, leave this account',
  },
  changeKinds: { added: 'Added', changed: 'Changed', removed: 'Removed' },
  roles: {
    finance: 'finance: usage and statements only',
    viewer: 'viewer: read access',
    admin: 'administrator: changes keys and members',
  },
  noMembers: 'There are no members yet.',
  addMember: 'Add a member',
  addMemberText: 'Whoever signs in with this identity has access at once. No e-mail is sent.',
  email: 'E-mail address',
  emailHint:
    'The address that this person signs in with. Whoever has none finds a text to copy on the page "No account yet" after signing in: enter that.',
  removeMember: (person: string) => `Remove ${person}?`,
  removeMemberText: 'This person loses access at the next request. Keys do not change.',
  removeMemberYes: 'Yes, remove this member',
  notYourself:
    'You can not change your own role: ask another administrator. To go, leave the account.',
  noSuchMember: (person: string, account: string) =>
    `${person} is not a member of account ${account}`,
  noSuchAccount: (account: string) => `There is no account ${account} that you may see`,
  noSuchPlan: (code: string) => `There is no plan ${code}`,
  leaveAccount: (account: string) => `Leave account ${account}?`,
  leaveText:
    'You lose access at once. Only an administrator of the account can add you again. Keys do not change.',

  apiText:
    'Send a GET request with your key in the header X-API-Key. Never call it from a browser: visitors could read your key.',
  apiSamples: 'In a program',
  apiSamplesText: 'Each reads the key from the environment variable BAG_ADRES_KEY.',
  apiReference: 'The complete reference',
  call: { answer: 'The response', request: 'The request', apiKey: 'API key', tryIt: 'Try it' },
  tryHere: 'Try it here, with your own key',
  tryText:
    'Looks up one address with your key, as a program does. It counts like any other lookup.',
  tryKey: 'It is used for the lookup only and stored nowhere: this page forgets it when you leave.',
  tryDemoKey: 'The key of the demo, as npm start prints it.',
  tryInclude: 'Also in the response (include)',
  includes: {
    toevoegingen: 'toevoegingen: the additions at this number',
    gemeente: 'gemeente: with its province',
    objecten: 'objecten: what stands there, with use, surface and location',
    nummeraanduidingen: 'nummeraanduidingen: the BAG ids of the address',
  },
  tryFailed: 'The API did not respond. Try again in a moment.',
  trySendFailed:
    'Nothing was sent, or nothing came back: check your connection, then try again. The lookup may have been counted.',
  /** Sentences about the response to a lookup. */
  tried: {
    found: (place: string) => `The address exists: ${place}.`,
    notFound: 'This address does not exist.',
    bare: 'none',
    existing: (toevoegingen: string) => `Toevoegingen at this number: ${toevoegingen}.`,
    ambiguous: (places: string) => `This may be several addresses: ${places}.`,
    wrongKey:
      'The API does not accept this key: a character is wrong or missing, or the key was revoked. Paste the whole key again, or create another on the page Keys.',
    noApi: (url: string) =>
      `There is no API at ${url} (404). Tell the operator of the service about it.`,
    invalid: 'The input is invalid, so nothing was looked up or counted:',
    invalidHere: 'Invalid: see the explanation above.',
    suggested: (input: string) => `Did you mean ${input}?`,
    explained: 'Explanation',
    limits: (names: string) => `This limit is reached: ${names}. Nothing was counted.`,
    ofKey: 'of the key per day',
    busy: 'The API receives too many requests at the moment. Nothing was counted.',
    againIn: (seconds: string) => `Try again in ${seconds}.`,
    againFrom: 'Try again from',
    other: (status: string) =>
      `The API answered with status ${status}, below. Try again in a moment; if it happens again, send us the X-Request-Id.`,
  },
  quotaText:
    'Each lookup with valid input counts, also if the address does not exist. Over a limit, the response is 429 with Retry-After.',

  /** Each topic begins with its name. */
  help: {
    title: 'Help',
    topics: [
      'Signing in: You sign in at the service of your supplier or of your own organisation. If you see "No account yet", copy the identity on that page and ask an administrator of your account to add you with it. You stay signed in for eight hours. Select your name at the top to see where you are signed in, or to sign out everywhere.',
      'Keys: An application calls the API with a key of its own.',
      'Create: Name the key after the application that will use it. You see it once: copy it at once and keep it like a password. Never put a key in a web page or an app, where everybody can read it.',
      'Replace: You get a new key and choose how long the old one still works. Replace it everywhere in that time; no request is refused.',
      'Revoke: Every request with the key is refused from then on. This can not be undone. If the key is in use, you type its id first, so that you do not revoke another one by mistake.',
      'Leaked: Paste the key, or text that contains it, on the page Keys: you see which key it is and since when it has been used. Replace it, with a short time for the old one, or revoke it at once.',
      'Limits and usage: Each lookup with valid input counts, also if the address does not exist. The overview warns from 80% of a limit. Above the limit the response is 429, with the time when requests are accepted again. A day and a month begin and end in UTC; the times on these pages are Dutch times. The page Usage has the lookups by day and by month, also as a CSV file; the page Statements has months that are closed and no longer change.',
      'Members: An administrator adds members: finance sees usage and statements only, a viewer has read access, an administrator also changes keys and members. To leave an account, select your name at the top. The last administrator can not leave or be removed. A removed member loses access at the next request; keys keep working.',
    ],
  },

  usageText: 'Days are in UTC; lookups are shown as they were counted against the limits.',
  noUsage: 'No address was looked up in this period.',
  sum: { soFar: 'so far', lookups: 'Lookups', total: 'Total shown', closedAt: 'Closed' },
  refused: {
    quota: 'Refused: limit reached',
    input: 'Refused: invalid input',
    inactive: 'Refused: inactive',
  },
  whyRefused: 'Why requests were refused',
  refusedWhy: {
    quota: 'A limit was reached (429)',
    input: 'Invalid input (422)',
    inactive: 'The account or its plan was inactive (403)',
  },
  refusedText:
    'Refused requests do not count against limits. There may have been more: each number is a lower bound, and does not tell which key was used.',
  refusedOn: {
    quota: (day: string, limit: string) =>
      `Refused by the limit ${limit || 'of the plan'} on ${day}`,
    input: (day: string, _limit: string) => `Refused for invalid input on ${day}`,
    inactive: (day: string, _limit: string) =>
      `Refused on ${day} because the account or its plan was inactive`,
  },
  atLeast: (count: string) => `at least ${count}`,
  refusal: {
    reason: 'Reason',
    requests: 'Requests',
    lookupsToday: 'Lookups today',
  },
  soFar: { thisMonth: 'This month so far', lastMonth: 'Last month until the same day' },
  range: {
    rangeFrom: 'From',
    rangeTo: 'Up to and including',
    share: 'Share',
    byKey: 'By key',
    period: 'Bars',
  },
  periods: { day: 'Day', week: 'Week', month: 'Month' },
  byPeriod: { day: 'By day', week: 'By week', month: 'By month' },
  download: { excel: 'Download for Excel', csv: 'Download as CSV', json: 'Download as JSON' },
  chart: 'Chart of the lookups; the page Usage has the same numbers in a table',
  byKeyText: 'Exactly as they were counted: keys that work, and revoked ones that were used.',
  unattributed: 'Belongs to no key',
  lastUsedOn: 'Last used on',
  bill: { statements: 'Statements', statement: 'Statement', part: 'Part', partUntil: 'up to' },
  showStatement: 'Show the statement',
  statementsText:
    'A month is closed soon after it has ended. From then on its statement never changes.',
  statementText:
    'This statement is final. The JSON file without its last member, sha256, has this SHA-256; the reference of the service says how to verify it.',
  planPeriodsText: 'The day of a change of plan is wholly under the new plan. Days are in UTC.',
  noStatements: 'This portal is not connected to the statements. Ask the operator of the service.',
  allStatementsText:
    'The file of a closed month is made of its statements, which never change. The numbers of the others still grow.',
  tooManyStatements:
    'The file of this month is too large for this page. Use the command: npx bag-adres usage export --csv, with --month.',
  partsText:
    'A file for each 1,000 accounts, made when you open it. The numbers of an open month still grow.',
  monthStates: { open: 'Open', closing: 'Ended, not closed yet', closed: 'Closed' },
  file: 'File',

  show: 'Show',
  hide: 'Hide',
  paging: { pages: 'pages', previous: 'Previous page', next: 'Next page', first: 'First page' },
  rowsOf: (from: string, to: string, all: string) => `${from} to ${to} of ${all}`,
  noneFound: 'Nothing was found.',
  sortBy: 'Sort by',

  yourSessions: 'Where you are signed in',
  signOutAt: {
    one: 'Sign out there',
    all: 'Sign out everywhere',
    allText: 'Ends all sessions listed here, including this one.',
  },
  session: {
    person: 'Person',
    browser: 'Browser',
    thisSession: 'this one',
    signedInSince: 'Signed in',
  },
  noSessions: 'There are no sessions.',
  whoseSessions: 'Whose',
  whoseSessionsHint:
    'An e-mail address, an identity from the list below, or an account id. Empty: everybody.',
  endSessions: {
    these: 'End these sessions',
    everybodys: 'End the sessions of everybody',
    yes: 'Yes, end them',
  },
  endThemText: 'Their next request leads to the sign-in page. Who may sign in does not change.',

  search: 'Search',
  searchAccounts: 'Search by id, name, contact, note or member',
  noAccounts: (filters: string) =>
    filters ? `No account matches: ${filters}.` : 'There are no accounts yet.',
  lookFurther: 'The next page searches further.',
  accountList: { all: 'All', activeKeys: 'Active keys' },
  near: 'At 80% of a limit or more',
  newAccounts: (days: string) => `New in the last ${days}`,
  refusedSignIns: 'Refused sign-ins (24 hours)',
  lastLoad: 'Last load',
  outOfReach: 'can not be read right now',
  createAccount: 'Create an account',
  details: 'Details',
  detailsText: 'You find the account by these. Customers see only the name.',
  detailNames: { name: 'Name of the customer', contact: 'Contact', note: 'Note' },
  detailHints: {
    name: 'At most 100 characters',
    contact: 'An e-mail address, a phone number, or both: at most 200 characters',
    note: 'For operators only: at most 200 characters',
  },
  termsApply: 'Applies from the next request on. Past usage stays counted.',
  termsRefuse:
    'Applies from the next request on. Usage has reached a new limit: requests are refused until its window ends.',
  sameTerms: 'This changes nothing.',
  saveDetails: 'Save these details',
  fromTo: (name: string, before: string | null, after: string | null) =>
    `${name}: ${before ?? '-'} → ${after ?? '-'}`,
  accountId: 'Account id',
  accountIdHint:
    '1 to 32 letters, digits, ".", "_" or "-". It is part of each key of the account and can never change.',
  noPlans: 'There are no plans yet. Create one on the page Plans.',
  changePlan: 'Plan and own limits',
  changePlanText: "Leave a limit empty to use the plan's limit. Usage in current windows is kept.",
  limitHint: 'A whole number, or: unlimited',
  suspend: 'Suspend this account',
  suspendText: 'All requests are refused from now on, until the account is activated again.',
  activate: 'Activate this account',
  activateText: 'Requests are accepted again from now on.',
  planCode: 'Plan code',
  planCodeHint: '1 to 32 letters, digits, ".", "_" or "-". It can never change.',
  planLimitHint: 'A whole number, or: unlimited. Empty: this window is not counted',
  createPlan: 'Create a plan',
  changeLimits: 'Change the limits',
  changeLimitsText:
    'You first see how many accounts are affected. Their own limits and usage are kept.',
  changeLimitsOf: (code: string) => `Change the limits of plan ${code}?`,
  changeLimitsYes: 'Yes, change these limits',
  deactivatePlan: 'Deactivate this plan',
  deactivatePlanText:
    'Every request of every account on it is refused, until it is activated again.',
  deactivatePlanYes: 'Yes, deactivate this plan',
  activatePlan: 'Activate this plan',
  activatePlanText: 'Requests of the accounts on it are accepted again.',
  activatePlanYes: 'Yes, activate this plan',
  followNow: (accounts: string) => `It applies to ${accounts} at once.`,
  unfinished: 'change not finished',
  unfinishedText: 'A change of this plan has not reached all of its accounts yet.',
  unfinishedLook: 'See how far it has come',
  changeStarted: 'Started on',
  lookedAt: (looked: string, accounts: string) => `${looked} of ${accounts} of the service checked`,
  haveChange: (accounts: string) => `By now the change applies to ${accounts} on this plan.`,
  changeGoesOn: 'It stops when you leave this page, and continues when somebody opens it again.',
  registerText: 'The address data behind lookups.',
  peildatum: 'Peildatum',
  dataset: { load: 'Load', loads: 'Last loads', addresses: 'Addresses', look: 'Review' },
  waiting: 'Waiting for approval',
  noneWaiting: 'No load awaits approval.',
  waitingText:
    'It has changed nothing yet. If the figures and examples are correct, approve it; otherwise reject it.',
  whyItWaits: 'Why it needs approval',
  whatItChanges: 'Changes in this load',
  objections: {
    too_few_addresses: 'It has too few addresses',
    too_many_removed: 'It would remove many addresses',
    too_many_added: 'It would add many addresses',
    too_many_doubled: 'Many addresses would get a second street',
    too_many_ids: 'It would change the BAG ids of many addresses',
    too_many_postcodes: 'It would change many postcodes',
    too_many_huisnummers: 'It would change many house numbers',
    too_many_toevoegingen: 'It would change many huisletters or toevoegingen',
    too_many_straten: 'Many addresses would get another street name',
    too_many_woonplaatsen: 'Many addresses would get another town',
    too_many_gemeenten: 'Many addresses would get another gemeente',
    too_many_gemeenten_lost: 'Many addresses would lose their gemeente',
    too_many_gemeenten_unknown: 'Many addresses would get a gemeente with an unknown code',
    too_many_letters_lost: 'Names would lose letters such as ë',
    too_many_names_garbled: 'Names have characters that no name has',
    too_many_objects_lost: 'Many addresses would lose an object',
    too_many_objects_added: 'Many addresses would get another object',
    too_many_statuses: 'The status of many objects would change',
    too_many_gebruiksdoelen: 'The use of many objects would change',
    too_many_gebruiksdoelen_lost: 'Many objects would lose a use, beside others',
    too_many_oppervlakten: 'The surface of many objects would change',
    too_many_locations: 'The location of many objects would change',
    too_many_objects_moved: 'The objects of many addresses would move',
    too_many_hoofdadressen: 'The main address of many objects would change',
    too_many_ligplaatsen_lost: 'Many addresses would lose their ligplaats',
    too_many_standplaatsen_lost: 'Many addresses would lose their standplaats',
    too_many_nevenadressen_lost: 'Many objects would lose a further address',
    too_many_problems: 'Many addresses have a problem',
    older_peildatum: 'It is older than the live dataset',
    other_area: 'It is of another area than the live dataset',
    last_file_full: 'A file may be missing',
    repeated_occurrences: 'It has addresses twice',
    item_too_large: 'An address has more objects than can be stored',
    too_few_objects: 'Many addresses would have no object',
    too_many_object_problems: 'Many objects have a problem',
    too_many_set_aside: 'Many changes do not match the live data',
  },
  daysSince: (day: string) => `together with the days since ${day}`,
  setAside: 'Changes that were set aside',
  setAsideText: (addresses: string) =>
    `These changes of the register do not match the live data. Until a corrected delivery or the next full extract, nothing changes for ${addresses}.`,
  /**
   * The sentence of the loader, which is in English and also names the limit, or the figures alone.
   */
  objectionText: (message: string, _figures: string) => message,
  /**
   * The noun after a number, by `Intl.PluralRules`: these languages have two forms for whole
   * numbers.
   */
  counted: {
    address: { one: 'address', other: 'addresses' },
    account: { one: 'account', other: 'accounts' },
    day: { one: 'day', other: 'days' },
    key: { one: 'key', other: 'keys' },
    request: { one: 'request', other: 'requests' },
    second: { one: 'second', other: 'seconds' },
    waiting: { one: 'load waits for approval', other: 'loads wait for approval' },
  },
  outOf: (count: string, of: string, share: string) =>
    share ? `${count} of ${of} (${share})` : `${count}; there are ${of} now`,
  loadOf: (day: string) => `Load of ${day}`,
  addressesAfter: 'Addresses after the load',
  changedObjecten: 'Only their objects changed',
  changesOf: ([added, changed, removed]: string[], objecten: string) =>
    `${added} added, ${changed} changed and ${removed} removed${objecten && `; the objects of ${objecten} change`}`,
  problems: 'Addresses with a problem',
  examples: 'Examples',
  noExamples: 'There are no examples.',
  example: {
    address: 'Address',
    before: 'Before',
    after: 'After',
    place: 'Place',
    liveDate: 'Live now',
  },
  running: 'A load is running since',
  mostChanged: { streets: 'Streets with the most changes', places: 'Places with the most changes' },
  allChangesText: 'The command line writes a file with every change:',
  allChanges: 'Download every change as CSV',
  fileOf: (file: string, of: string) => `(file ${file} of ${of})`,
  decidedOther: 'Its changes are different now, so it needs a new decision.',
  decisions: {
    approve: {
      name: 'Approve this load',
      question: (day: string) => `Approve the load of ${day}?`,
      explanation: (changes: string) => `Within minutes, for every customer: ${changes}.`,
      yes: 'Yes, approve this load',
      made: (person: string) => `Approved by ${person} on`,
      states: {
        running: 'It is being loaded.',
        done: 'That run has ended.',
        failed: 'That run failed. The runbook says what to do: Load failed.',
        unknown:
          'It is not known how that ended. Approve it again if it still waits after an hour.',
      },
    },
    reject: {
      name: 'Reject this load',
      question: (day: string) => `Reject the load of ${day}?`,
      explanation: (changes: string) =>
        `The live data stays. This load (${changes}) is not run, and is not offered again until its source is corrected or an operator asks for it with the command line.`,
      yes: 'Yes, reject this load',
      made: (person: string) => `Rejected by ${person} on`,
      states: {
        running: 'That is being carried out.',
        done: 'That was carried out.',
        failed: 'That failed. Reject it again.',
        unknown: 'It is not known how that ended. Reject it again if it still waits after an hour.',
      },
    },
  },
  noRegister: 'The register is not connected to this portal.',
  noRegisterText: 'Deploy the portal together with the loader to see it here.',
  noLoads: 'Nothing has been loaded yet.',

  done: {
    sessionEnded: 'That session has ended.',
    sessionsEnded: 'The sessions have ended.',
    revoked: 'The key is revoked.',
    member: 'The member is saved.',
    removed: 'The member is removed.',
    left: 'You have left the account.',
    account: 'The account is created.',
    saved: 'The change is saved.',
    suspended: 'The account is suspended.',
    activated: 'The account is active.',
    plan: 'The plan is created.',
    planActive: 'The plan is active.',
    planInactive: 'The plan is inactive.',
    approved: 'The load is approved and has started. It is live within minutes.',
    approvedBefore: 'The load was already approved. It runs once.',
    rejected: 'The load is rejected and will disappear from this list in a moment.',
    rejectedBefore: 'The load was already rejected.',
  },

  errors: {
    badRequest: 'This form can not be used',
    badRequestText: 'It does not belong to this session. Nothing was saved. Open the page again.',
    forbidden: 'You are not allowed to do this',
    forbiddenText:
      'Your role in this account does not allow it. Ask an administrator of the account.',
    notFound: 'This page does not exist',
    notFoundText: 'Check the address, or start again at the home page.',
    invalid: 'The form has an error',
    conflict: 'Someone else has changed this',
    conflictText: 'Your change was not saved. Check the current values, then decide again.',
    changedText:
      'Nothing was saved. The form still has the values that you typed, and shows the current value of each changed field. Sending the form again replaces the current values.',
    signIn: 'Signing in failed',
    signInText: 'The attempt took too long, was interrupted or was refused. Sign in again.',
    identity: 'You can not sign in with this identity',
    identityText:
      'The identifier that your sign-in service gave has spaces or other characters that can not be used here, or is too long. Give this to whoever manages that service: they can choose another claim.',
    tooMany: 'Too many requests',
    tooManyText: 'Wait a few seconds, then open the page again. Nothing was changed.',
    provider: 'Signing in is not possible right now',
    providerText: 'The sign-in provider does not respond. Try again in a minute.',
    slow: 'This takes too long',
    slowText:
      'The database does not answer at the moment. Your last change may have been made or not: check before you repeat it. Try again in a minute.',
    failed: 'Something went wrong on our side',
    failedText:
      'Your last change may or may not have been saved: check before you repeat it. Mention this number when you contact us:',
    goBack: 'Go back',
    account:
      'An account id has 1 to 32 letters, digits, ".", "_" or "-", and begins with a letter or digit.',
    exists: 'An account with this id exists or existed. Choose another id.',
    details: 'Use one line, no longer than the hint says, without a key.',
    search: 'Search for 1 to 200 characters.',
    wholeKey: 'Paste the whole key: it begins with bagadres_ and has no spaces.',
    key: 'This is no key and no key id. A key begins with bagadres_; an id is 8 letters and digits.',
    label: 'A label has 1 to 64 characters on one line, and is not a key.',
    expires: 'Choose today or a later day.',
    person:
      'Enter one complete e-mail address, for instance jo@example.nl, or the text that this person copies from the page "No account yet".',
    limit: 'A limit is a whole number from 0 to a trillion, or: unlimited.',
    plan: 'Choose one of the plans.',
    planCode:
      'A plan code has 1 to 32 letters, digits, ".", "_" or "-", and begins with a letter or digit.',
    planExists: 'A plan with this code already exists. Choose another code, or change that plan.',
    planLimit:
      'A plan has at least one limit; each is a whole number from 0 to a trillion, or: unlimited.',
    load: 'A load has an id like 2026-11-08-0123456789. Choose one on the page of the register.',
    statement: "Choose a closed month in the account's lifetime.",
    tooManyKeys: 'The account has the maximum number of keys. Revoke a key that is no longer used.',
    lastAdmin:
      'This is the last administrator of the account. Make another member administrator first.',
    range: 'Enter two days within the time that usage is kept, the first not after the second.',
    firstMonth: (month: string) => `There is nothing before ${month}. Choose a later time.`,
    tooManyToday:
      'The account has been given the maximum number of keys for today. Create more tomorrow.',
    tooManyReplaced:
      'The account has the maximum number of keys, and one is already being replaced. Wait until that key has ended, or revoke a key.',
    confirmId: 'This is not the id of this key. Check which key you want to revoke.',
    personOrAccount: 'Enter an e-mail address, an identity as the list shows it, or an account id.',
    tooManyMembers: 'The account has the maximum number of members. Remove one first.',
    other: 'Check your input, then submit it again.',
  },
};

type Widened<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : { readonly [K in keyof T]: Widened<T[K]> };

/** The shape of every language's texts: the same keys, and functions of the same values. */
export type Text = Widened<typeof en>;
