import type { BodyFaultCode } from '../../../core/contract.ts';
import { serviceName } from '../../../core/languages.ts';
import type { IncludeName } from '../../../core/place-fields.ts';
import type { ProblemCode } from '../../../core/problems.ts';

/** Everything that has its own page under `/problems/`. */
export type ExplainedCode = ProblemCode | BodyFaultCode;

/** The cause, and the consumer's remedy; `code` spans are between backticks. */
export type Explanation = readonly [happened: string, remedy: string];

/** The names of the paragraphs in the introduction of the OpenAPI document. */
export const paragraphNames = [
  'Toevoeging',
  'Keys',
  'Outcomes',
  'Problems',
  'Quota',
  'Gateway',
  'Test addresses',
  'Storing results',
  'Compatibility',
] as const;

/** The texts that the OpenAPI document has in English. */
export type Descriptions = {
  lead: string;
  paragraphs: Record<(typeof paragraphNames)[number], string>;
  parameterForms: Record<string, string>;
  headerMeanings: Record<string, string>;
  exampleTitles: Record<string, string>;
  memberMeanings: Record<string, string>;
  operations: Record<string, string>;
};

const postcodeForm =
  'Send four digits, the first not 0, and two letters, such as `1012JS`. Spaces and letter case do not matter.';
const huisnummerForm = 'Send digits only, at most five, from `1` to `99999`.';
/** `{availableIncludes}` stands for what `include` can name in a deployment. */
const includeForm =
  'Send one or more of {availableIncludes}, each once, separated by commas; or leave `include` out.';

/** The meaning of each name of `include`, in a list. */
const includeMeanings: Record<IncludeName, string> = {
  toevoegingen: 'the additions that exist at the postcode and huisnummer, with every outcome',
  gemeente: 'the municipality of the address and of each candidate, with its province',
  objecten:
    'the verblijfsobjecten, ligplaatsen and standplaatsen of the address and of each candidate, with status, use, surface and location',
  nummeraanduidingen: 'the BAG ids of the address and of each candidate',
};

export const english = {
  includeMeanings,
  title: serviceName.en,
  pageTitle: `${serviceName.en}: API reference`,
  contents: 'Contents',
  skip: 'Skip to the contents',
  copy: 'Copy',
  copied: 'Copied',
  search: 'Search this page',
  noResults: 'Nothing found',
  request: 'Request',
  response: 'Response',
  sections: {
    start: 'Quick start',
    keys: 'Keys',
    lookup: 'Look up one address',
    batch: 'Look up many addresses',
    validate: 'Check a key',
    quota: 'Quota and retries',
    errors: 'Errors',
    headers: 'Headers',
    openapi: 'OpenAPI document',
    changes: 'Possible changes',
  },
  startSteps: [
    'Get a key from your provider. It begins with `bagadres_`.',
    'Put it in place of `YOUR_KEY` and paste this line into a terminal.',
    'Read `status` first: `ok` means that `address` has the street and the town.',
  ],
  tryIt: 'Or try a lookup in the portal, with your own key',
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
  requestBody: 'Members of the request',
  membersOf: 'Members of',
  testAddresses: 'Test addresses',
  storing: 'Storing results',
  programs: 'Language',
  programsLead:
    'The programs read the key from the environment variable `BAG_ADRES_KEY`, and need no library. Complete programs, which retry as described below, are in the OpenAPI document, as `x-codeSamples`.',
  retries: 'When to retry',
  retryRows: [
    [
      '429, 503',
      'After the number of seconds in `Retry-After`; without that header, after a second.',
    ],
    ['500, or no response', 'Once or twice, with longer and longer waits.'],
    ['any other', 'Not: the same request gets the same response.'],
  ] as [string, string][],
  problems: 'All errors',
  faults: 'Codes of invalid input',
  faultsLead:
    'A 422 has one entry in `errors` for each fault. Each `code` is stable: translate by it. `suggestion` has the parameters to send instead, if the input has a clear meaning: show it to the person who typed.',
  status: 'Status',
  meaning: 'Meaning and what to do',
  code: 'Code',
  name: 'Name',
  form: 'Form',
  description: 'Meaning',
  versions: 'Versions',
  feed: 'The same as a feed',
  otherForms: 'The reference in other forms',
  headersLead: 'Names of headers are not case-sensitive.',
  everyResponse: 'every response',
  exampleOf: 'For instance',
  /** Search words, by the end of the address of a heading or row. */
  searchWords: {
    'errors-title': 'error codes message fault',
    'quota-title': 'rate limit throttling allowance',
    'keys-title': 'api key token authentication login',
    'batch-title': 'bulk batch many list',
    'test-addresses': 'sandbox trial',
    retries: 'repeat again timeout',
    'outcome-not-found': 'unknown does not exist',
    'error-unauthorized': 'wrong invalid key login denied',
    'error-account-inactive': 'blocked disabled suspended',
    'error-plan-inactive': 'blocked disabled subscription',
    'error-quota-exceeded': 'rate limit too many blocked',
    'changes-title': 'changelog versions',
  },

  frame: {
    language: 'English',
    service: serviceName.en,
    languages: 'Language',
    portal: 'My keys and usage',
    contact: 'Contact',
    terms: 'Terms of service',
    privacy: 'Privacy',
    accessibility: 'Accessibility',
    about: 'About this service',
  },
  problemPage: {
    invalid: 'Invalid input',
    unknown: 'There is no problem of this name',
    known: 'These are all problems that the API reports:',
    happened: 'What happened',
    remedy: 'What to do',
    codes: 'The codes in <code>errors</code>',
    codeOf: 'A code in the <code>errors</code> of',
    described: 'The API is described in',
    reference: 'API reference',
    inReference: 'In the',
  },

  explanations: {
    unauthorized: [
      'The request had no valid API key. The header `X-API-Key` is missing or malformed, or the key is unknown, wrong or revoked. Every case has the same response, so that it does not reveal the cause.',
      'Send the complete key in the header `X-API-Key`; it begins with `bagadres_`. A key in the query string is not read. If the key used to work, it has been revoked: ask your provider for a new one. Do not retry with the same key.',
    ],
    'account-inactive': [
      'The key is valid, but its account is suspended. The request did not count against the quota.',
      'Ask your provider to activate the account. The same key works again from that moment.',
    ],
    'plan-inactive': [
      "The key and its account are valid, but the account's plan is no longer active. The request did not count against the quota.",
      'Ask your provider to move the account to another plan. The key stays the same.',
    ],
    'not-found': [
      'There is nothing at this path. An address that is not in the register is not an error: that is a response with status 200 and the outcome `not_found`.',
      'Compare the path with the reference. Paths are case-sensitive, begin with `/v1/` and do not end in a slash.',
    ],
    'method-not-allowed': [
      'The path exists, but does not support this method; the header `Allow` names the supported method.',
      'Use `POST` for `/v1/addresses`, and `GET` with the parameters in the query string for every other path.',
    ],
    'content-too-large': [
      'The body has more than 64 KB. The request did not count against the quota.',
      'Send fewer addresses in each request; 100 are allowed.',
    ],
    'unsupported-media-type': [
      'The body is not declared as JSON. The request did not count against the quota.',
      'Send JSON, with the header `Content-Type: application/json`.',
    ],
    'invalid-input': [
      'One or more parameters are invalid. No address was looked up, and the request did not count against the quota. `errors` has one entry for each fault: the name of the `parameter`, a stable `code`, and a `detail` that says what to send instead. If that is clear, `suggestion` has it for a program: the parameters to send, with their values.',
      'Correct every parameter that `errors` names and send the request again. The same request always gets the same response.',
    ],
    missing: [
      'A required parameter is absent, empty, or has only spaces.',
      'Send `postcode` and `huisnummer` with every lookup; `toevoeging` and `include` are optional.',
    ],
    duplicate: [
      'A parameter, or a member of an object in the body, was sent more than once.',
      'Send each parameter and each member once. A common cause is a base URL that already has a query string.',
    ],
    'parameter-unknown': [
      'The API has no parameter of this name. It may be misspelled, as `toevoging` and `Toevoeging` are, or the name that another API uses, such as `huisletter`, `house_number` or `addition`. Ignoring it could return another address.',
      'Send the number as `huisnummer`, and huisletter and huisnummertoevoeging joined as `toevoeging`: `huisletter=b` and `huisnummertoevoeging=99` become `toevoeging=b99`. `suggestion` has the value to send if it can be derived. Leave any other parameter out, even when it is empty.',
    ],
    'misplaced-key': [
      'A parameter or a member of the body has an API key. Logs, histories and proxies keep query strings, so the key is no longer secret.',
      'Send the key in the header `X-API-Key` only. Ask your provider for a new key, and have this one revoked.',
    ],
    'value-too-long': [
      'A value has more than 200 characters without its spaces. No valid value has, so it was not examined further.',
      'Check what your program sends: an address is a `postcode`, a `huisnummer` and, if it has one, a `toevoeging`.',
    ],
    'postcode-character': [
      'The postcode has characters other than ASCII letters, digits and spaces, such as a hyphen, a dot or a tab.',
      postcodeForm,
    ],
    'postcode-leading-zero': ['The postcode begins with 0. No Dutch postcode does.', postcodeForm],
    'postcode-incomplete': [
      'The postcode ends too early: digits or letters are missing.',
      postcodeForm,
    ],
    'postcode-too-long': [
      'There is something after the two letters of the postcode.',
      `${postcodeForm} Send the number as \`huisnummer\`.`,
    ],
    'postcode-form': ['The postcode is not four digits followed by two letters.', postcodeForm],
    'huisnummer-with-toevoeging': [
      'The huisnummer includes an addition, as in `12A`.',
      'Send the number as `huisnummer` and everything after it as `toevoeging`: `huisnummer=12` and `toevoeging=A`.',
    ],
    'huisnummer-range': [
      'The huisnummer has two numbers, as in `12-14`.',
      'Look up one number. If the second is an addition, send it as `toevoeging`: `huisnummer=12` and `toevoeging=14`.',
    ],
    'huisnummer-space': [
      'The huisnummer begins or ends with white space: a space, a tab or a line break. In a query string a `+` is a space too.',
      huisnummerForm,
    ],
    'huisnummer-sign': ['The huisnummer has a plus or minus sign, as in `-12`.', huisnummerForm],
    'huisnummer-decimal': ['The huisnummer has decimals, as in `12.0`.', huisnummerForm],
    'huisnummer-zero': ['The huisnummer is 0. House numbers begin at 1.', huisnummerForm],
    'huisnummer-too-long': [
      'The huisnummer has more than five digits, leading zeros included.',
      huisnummerForm,
    ],
    'huisnummer-form': ['The huisnummer is not a whole number from 1 to 99999.', huisnummerForm],
    'toevoeging-character': [
      'The toevoeging has characters other than ASCII letters, digits and spaces, such as the hyphen in `A-2`.',
      'Send the letters and digits alone, in their order: `A-2` is `toevoeging=A2`. Leave it out if the address has none.',
    ],
    'toevoeging-too-long': [
      'The toevoeging has more than five letters and digits. The register has no longer ones.',
      'Send it as the register writes it: a floor is mostly a digit or a short form such as `1`, `2H` or `bis`. Without any addition, the outcome `not_found` lists the existing additions at the huisnummer.',
    ],
    'include-empty': [
      '`include` has no names, or an empty one: nothing between two commas.',
      includeForm,
    ],
    'include-unknown': [
      '`include` has a name that does not exist. Names are in lower case, without spaces.',
      includeForm,
    ],
    'include-repeated': ['`include` has a name more than once.', includeForm],
    'include-unavailable': [
      '`include` names something that the API has but this service does not: its operator has not turned it on.',
      `Leave that name out, or ask your provider, who can turn it on. ${includeForm}`,
    ],
    'body-form': [
      'The body is not a JSON object.',
      'Send an object with the list `addresses` and, if you like, `include`, in UTF-8.',
    ],
    'member-type': [
      'A member of the body has the wrong JSON type.',
      'Send `addresses` and `include` as lists, `postcode` as a string, `huisnummer` as an integer or a string, and `toevoeging` as a string or `null`.',
    ],
    'unknown-member': [
      'The body or an address has a member that the API does not have: a misspelled one, or one of another API, such as `huisletter`.',
      'Send what `suggestion` has, or leave the member out. An address has `postcode`, `huisnummer` and `toevoeging`; the body has `addresses` and `include`.',
    ],
    'addresses-count': [
      '`addresses` is empty, or has more than 100 addresses.',
      'Send 1 to 100 addresses in a request.',
    ],
    'quota-exceeded': [
      'The quota in one or more time windows is used up; `violated_windows` names them. The quota belongs to the account, so all its keys share it; `key-day` is the limit that this key has for a day (UTC), in addition. This request did not count against it.',
      'Wait for the number of seconds in `Retry-After`, then try again. A 429 with only a `message` is from API Gateway: too many requests a second, of all accounts together; wait a second, then try again. The headers `RateLimit-Policy` and `RateLimit` of every lookup say how much is left, so that a client can slow down in time. If this happens often, ask your provider for a larger plan, or whoever manages your keys for a higher limit of this key.',
    ],
    'internal-error': [
      'An unexpected error occurred. This request may have counted against your quota.',
      'Try again once. If the error persists, send the `request_id` to your provider, who can find the cause with it.',
    ],
    'temporarily-unavailable': [
      'A part of the service did not respond in time. A lookup that can not be counted is never answered. This request may have counted against your quota.',
      'Wait for the number of seconds in `Retry-After`, then try again, a few times, with longer and longer waits.',
    ],
  } satisfies Record<ExplainedCode, Explanation>,
};

/**
 * Every text of the reference, in a language; the explanations are also the texts of the OpenAPI
 * document.
 */
export type ReferenceText = typeof english;

/**
 * The texts of a language other than English. The OpenAPI document has its own descriptions in
 * English.
 */
export type TranslatedText = ReferenceText & Descriptions;
