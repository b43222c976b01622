/** The names of the paragraphs in the introduction of the OpenAPI document. */
export const paragraphNames = [
  'Toevoeging',
  'Keys',
  'Outcomes',
  'Problems',
  'Quota',
  'Test addresses',
  'Storing results',
  'Compatibility',
] as const;

/** The texts that the OpenAPI document has in English. */
export type Descriptions = {
  lead: string;
  paragraphs: Record<(typeof paragraphNames)[number], string>;
  /** By name of a parameter of the lookup. */
  parameterForms: Record<string, string>;
  /** By name of a header. */
  headerMeanings: Record<string, string>;
  /** By name of an example of a lookup. */
  exampleTitles: Record<string, string>;
  /** By `operationId`. */
  operations: Record<string, string>;
};

/** The other texts of the reference page. */
export type Words = {
  title: string;
  pageTitle: string;
  contents: string;
  skip: string;
  copy: string;
  copied: string;
  request: string;
  response: string;
  program: string;
  sections: Record<
    'start' | 'keys' | 'lookup' | 'validate' | 'quota' | 'errors' | 'headers' | 'openapi' | 'changes',
    string
  >;
  startSteps: string[];
  parameters: string;
  required: string;
  optional: string;
  outcomes: string;
  outcome: Record<'ok' | 'not_found' | 'ambiguous', string>;
  body: string;
  members: Record<'status' | 'request' | 'address' | 'candidates' | 'toevoegingen', string>;
  validationMembers: Record<'valid' | 'key_label' | 'plan_code' | 'limits', string>;
  testAddresses: string;
  storing: string;
  programs: string;
  programsLead: string;
  retries: string;
  retryRows: [string, string][];
  problems: string;
  faults: string;
  faultsLead: string;
  status: string;
  meaning: string;
  code: string;
  name: string;
  form: string;
  description: string;
  headersLead: string;
  everyResponse: string;
  exampleOf: string;
};

/** The texts of the reference page in English, besides those of the OpenAPI document. */
export const english: Words = {
  title: 'Dutch addresses',
  pageTitle: 'Dutch addresses: API reference',
  contents: 'Contents',
  skip: 'Skip to the contents',
  copy: 'Copy',
  copied: 'Copied',
  request: 'Request',
  response: 'Response',
  program: 'Program',
  sections: {
    start: 'Quick start',
    keys: 'Keys',
    lookup: 'Look up one address',
    validate: 'Check a key',
    quota: 'Quota and retries',
    errors: 'Errors',
    headers: 'Headers',
    openapi: 'OpenAPI document',
    changes: 'What may change',
  },
  startSteps: [
    'Get a key from your provider. It begins with `bagadres_`.',
    'Put it in place of `YOUR_KEY` and paste this line into a terminal.',
    'Read `status` first: `ok` means that `address` has the street and the town.',
  ],
  parameters: 'Parameters',
  required: 'required',
  optional: 'optional',
  outcomes: 'Outcomes',
  outcome: {
    ok: 'The register has exactly one street and town. `request` shows how the input was read.',
    not_found:
      'The register has no such address. This is not an error. `toevoegingen` lists the additions that do exist, so that a form can offer them.',
    ambiguous: 'The register has several streets or towns. Offer the `candidates` to your user.',
  },
  body: 'Members of the response',
  members: {
    status: '`ok`, `not_found` or `ambiguous`.',
    request:
      'The input, normalised: the postcode without spaces in upper case, `huisnummer` as a number, `toevoeging` as it was sent or `null`.',
    address: '`straat` and `woonplaats` as the register writes them; `null` unless `status` is `ok`.',
    candidates:
      'Each combination of `straat` and `woonplaats` once, sorted by town, then street; empty unless `status` is `ambiguous`.',
    toevoegingen:
      'Only in `not_found`: the additions at this postcode and huisnummer, in upper case and sorted, `null` for the address without one. At most 400.',
  },
  validationMembers: {
    valid: 'Always `true`: any other key gets 401 or 403.',
    key_label: 'The label that the key was created with.',
    plan_code: 'The plan of the account.',
    limits:
      'The limit for each time window of the plan: `minute`, `hour`, `day`, `month`, in UTC. `null` is unlimited; 0 allows no requests.',
  },
  testAddresses: 'Test addresses',
  storing: 'Storing results',
  programs: 'Complete programs',
  programsLead: 'Each needs nothing but its language, and retries as described below.',
  retries: 'When to retry',
  retryRows: [
    ['429, 503', 'After the number of seconds in `Retry-After`.'],
    ['500, or no response', 'Once or twice, with longer and longer waits.'],
    ['any other', 'Not: the same request gets the same response.'],
  ],
  problems: 'All errors',
  faults: 'Codes of invalid input',
  faultsLead: 'A 422 has one entry in `errors` for each fault. Each `code` is stable: translate by it.',
  status: 'Status',
  meaning: 'Meaning and what to do',
  code: 'Code',
  name: 'Name',
  form: 'Form',
  description: 'Meaning',
  headersLead: 'Names of headers are not case-sensitive.',
  everyResponse: 'every response',
  exampleOf: 'For instance',
};
