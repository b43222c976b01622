import { invoke, tinyMachine } from './tiny-machine.ts';

export const retry = {
  ErrorEquals: ['Lambda.ServiceException', 'BusyError'],
  IntervalSeconds: 1,
  MaxAttempts: 3,
  BackoffRate: 2,
  MaxDelaySeconds: 20,
  JitterStrategy: 'FULL',
};
const onward = (Next: string) => ({ End: undefined, Next });
const many = {
  Type: 'Map',
  Label: 'Many',
  ItemReader: {
    Resource: 'arn:aws:states:::s3:getObject',
    ReaderConfig: { InputType: 'JSON' },
    Arguments: { Bucket: '{% $states.input.bucket %}', Key: 'items.json' },
  },
  ItemBatcher: { MaxItemsPerBatch: 2, BatchInput: { x: '{% $x %}' } },
  MaxConcurrency: 10,
  ItemProcessor: {
    ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
    StartAt: 'One',
    States: { One: invoke('G') },
  },
  ResultWriter: { Resource: 'arn:aws:states:::s3:putObject', Arguments: { Bucket: 'b', Prefix: 'p' } },
  ...onward('Which'),
};
/** A definition that has nothing wrong. */
export const good = tinyMachine(
  {
    Ask: {
      ...invoke('F', { a: '{% $states.input.a %}' }, onward('Many')),
      TimeoutSeconds: 60,
      Retry: [retry],
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Tell', Output: '{% $states.errorOutput %}' }],
      Assign: { x: '{% $states.result.Payload.x %}' },
    },
    Many: many,
    Which: { Type: 'Choice', Choices: [{ Condition: '{% $x = 1 %}', Next: 'Done' }], Default: 'Tell' },
    Tell: {
      Type: 'Task',
      Resource: 'arn:aws:states:::sns:publish',
      Arguments: { TopicArn: 't', Message: 'm' },
      ...onward('No'),
    },
    No: { Type: 'Fail', Error: 'E', Cause: '{% $string($states.input) %}' },
    Done: { Type: 'Succeed' },
  },
  { TimeoutSeconds: 3600 },
);

/** The good machine with one thing in it set, by its path; `undefined` removes it. */
export function mutated(path: string, value: unknown): object {
  const copy = JSON.parse(JSON.stringify(good));
  const names = path.split('/');
  const last = names.pop() ?? '';
  let place = copy;
  for (const name of names) place = place[name];
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}

/** The static validators: neither finds all that the other does. */
export type Validator = 'aslValidator' | 'languageService';

const both: Validator[] = ['aslValidator', 'languageService'];
const aslValidator: Validator[] = ['aslValidator'];
const languageService: Validator[] = ['languageService'];

/** A mistake with its name, path and value, the validators that find it, and what the interpreter says. */
export type Mistake = [name: string, path: string, value: unknown, finders: Validator[], issue: RegExp];

export const mistakes: Mistake[] = [
  ['a StartAt that is not a state', 'StartAt', 'Other', both, /Other: there is no state/],
  ['a Next that is not a state', 'States/Tell/Next', 'Other', both, /Other: there is no state/],
  ['a catcher without an existing Next', 'States/Ask/Catch/0/Next', 'Other', both, /Other: there is no state/],
  [
    'a child that leaves its map',
    'States/Many/ItemProcessor/States/One',
    invoke('G', {}, onward('Done')),
    both,
    /Done: there is no/,
  ],
  ['a state that nothing reaches', 'States/Extra', { Type: 'Pass', End: true }, both, /Extra: no state goes there/],
  ['an unknown type', 'States/Done/Type', 'Stop', both, /States\/Done\/Type: Invalid/],
  ['an unknown field', 'States/Ask/TimeOutSeconds', 3, both, /Unrecognized key: "TimeOutSeconds"/],
  ['both Next and End', 'States/Tell/End', true, both, /Tell: has both/],
  ['neither Next nor End', 'States/Many/Next', undefined, both, /Many: has neither/],
  ['no resource', 'States/Tell/Resource', undefined, both, /States\/Tell\/Resource: Invalid/],
  ['no choices', 'States/Which/Choices', [], both, /Choices: Too small/],
  ['an invalid condition', 'States/Which/Choices/0/Condition', 'yes', both, /JSONata expression|Invalid input/],
  ['a field of JSONPath', 'States/Ask/ResultPath', '$.x', aslValidator, /Unrecognized key: "ResultPath"/],
  ['an expression with an error', 'States/Ask/Arguments/Payload', '{% $states.input.( %}', aslValidator, /Payload: /],
  ['an expression that does not end', 'States/Ask/Arguments/Payload', '{% $x ', aslValidator, /the whole text/],
  [
    'two states of one name',
    'States/Many/ItemProcessor',
    { ...many.ItemProcessor, StartAt: 'Ask', States: { Ask: invoke('G') } },
    aslValidator,
    /Ask: there are two states/,
  ],
  ['a timeout of no time', 'States/Ask/TimeoutSeconds', 0, aslValidator, /TimeoutSeconds/],
  ['a factor that shrinks delays', 'States/Ask/Retry/0/BackoffRate', 0.5, languageService, /BackoffRate: Too small/],
  [
    'a longest delay of nothing',
    'States/Ask/Retry/0/MaxDelaySeconds',
    0,
    languageService,
    /MaxDelaySeconds: Too small/,
  ],
  ['an unknown jitter', 'States/Ask/Retry/0/JitterStrategy', 'SOME', languageService, /JitterStrategy: Invalid/],
  ['an operator of a later JSONata', 'States/Which/Choices/0/Condition', '{% $x ?? 1 %}', aslValidator, /"\?"/],
  ['a definition in JSONPath', 'QueryLanguage', undefined, aslValidator, /QueryLanguage: Invalid/],
];
