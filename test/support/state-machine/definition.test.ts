import { describe, expect, it } from '@jest/globals';
import { parseMachine } from './check-definition.ts';
import { NotInterpretedError } from './errors.ts';
import { lambdaInvoke, lambdaInvokeArn } from './lambda-invoke.ts';
import { runStateMachine } from './run-state-machine.ts';
import { serviceCall } from './service-call.ts';
import { invoke, tinyMachine } from './tiny-machine.ts';
import { validateDefinition } from './validate-definition.ts';

const known = {
  integrations: {
    [lambdaInvokeArn]: lambdaInvoke({ F: () => null, G: () => null }),
    'arn:aws:states:::sns:publish': serviceCall({ TopicArn: 'required', Message: 'required' }, async () => null),
  },
  functionErrors: ['BusyError'],
};

const retry = {
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
  ToleratedFailureCount: 0,
  ItemProcessor: {
    ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'EXPRESS' },
    StartAt: 'One',
    States: { One: invoke('G') },
  },
  ResultWriter: { Resource: 'arn:aws:states:::s3:putObject', Arguments: { Bucket: 'b', Prefix: 'p' } },
  ...onward('Which'),
};
const good = tinyMachine(
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
function mutated(path: string, value: unknown): object {
  const copy = JSON.parse(JSON.stringify(good));
  const names = path.split('/');
  const last = names.pop() ?? '';
  let place = copy;
  for (const name of names) place = place[name];
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}

/** What this interpreter has against a definition. */
function issues(definition: unknown): string {
  try {
    parseMachine(definition, known);
    return '';
  } catch (error) {
    if (error instanceof NotInterpretedError) return error.issues.join('\n');
    throw error;
  }
}

describe('a good definition', () => {
  it('passes both validators and is interpreted', async () => {
    expect(await validateDefinition(JSON.parse(JSON.stringify(good)))).toEqual({
      aslValidator: [],
      languageService: [],
    });
    expect(issues(JSON.parse(JSON.stringify(good)))).toBe('');
  });
});

const both = ['aslValidator', 'languageService'];
const [aslValidator, languageService] = [['aslValidator'], ['languageService']];

describe('a mistake in a definition', () => {
  it.each<[string, string, unknown, string[], RegExp]>([
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
  ])('%s is found by a validator and refused', async (_, path, value, finders, issue) => {
    const definition = mutated(path, value);
    const verdict = await validateDefinition(definition);
    const found = Object.entries(verdict).flatMap(([name, errors]) => (errors.length > 0 ? [name] : []));
    expect(found).toEqual(finders);
    expect(issues(definition)).toMatch(issue);
  });

  it.each<[string, string, unknown, RegExp]>([
    ['a longest delay within the first', 'States/Ask/Retry/0/MaxDelaySeconds', 1, /greater than IntervalSeconds/],
    ['States.ALL beside others', 'States/Ask/Catch/0/ErrorEquals', ['States.ALL', 'BusyError'], /stand alone/],
    ['States.ALL before others', 'States/Ask/Retry', [{ ErrorEquals: ['States.ALL'] }, retry], /stand alone/],
    ['an error that no function throws', 'States/Ask/Retry/0/ErrorEquals', ['BuzyError'], /BuzyError is not known/],
    [
      'an error that nothing catches',
      'States/Ask/Catch/0/ErrorEquals',
      ['States.Runtime'],
      /nothing retries or catches/,
    ],
    ['a function that is not there', 'States/Ask/Arguments/FunctionName', 'H', /there is no function H/],
    ['an argument that Lambda does not have', 'States/Ask/Arguments/Payloads', {}, /Payloads is no known argument/],
    ['an argument that SNS does not have', 'States/Tell/Arguments/Topic', 't', /Topic is no known argument/],
    ['an argument that SNS needs', 'States/Tell/Arguments/Message', undefined, /the call needs Message/],
    [
      'a resource that is not known',
      'States/Tell/Resource',
      'arn:aws:states:::sqs:sendMessage',
      /sqs:sendMessage is not known/,
    ],
    ['a variable that nothing assigns', 'States/Which/Choices/0/Condition', '{% $y = 1 %}', /no state assigns \$y/],
    [
      'a variable of outside in a child execution',
      'States/Many/ItemProcessor/States/One/Arguments/Payload',
      '{% $x %}',
      /no state assigns \$x/,
    ],
    [
      'a result before there is one',
      'States/Ask/Arguments/Payload',
      '{% $states.result %}',
      /\$states\.result is not there/,
    ],
    [
      'an error output outside a catcher',
      'States/Ask/Output',
      '{% $states.errorOutput %}',
      /\$states\.errorOutput is not there/,
    ],
    [
      'a function that Step Functions has not',
      'States/Which/Choices/0/Condition',
      "{% $eval('true') %}",
      /no state assigns \$eval/,
    ],
    [
      'a batcher that is misspelt',
      'States/Many/ItemBatcher',
      { MaxItemPerBatch: 2 },
      /Unrecognized key: "MaxItemPerBatch"/,
    ],
    ['a batcher without a size', 'States/Many/ItemBatcher', { BatchInput: {} }, /MaxItemsPerBatch or/],
    [
      'a writer with the arguments of JSONPath',
      'States/Many/ResultWriter/Parameters',
      {},
      /Unrecognized key: "Parameters"/,
    ],
    ['a writer without a place', 'States/Many/ResultWriter/Arguments', undefined, /Resource and Arguments together/],
    ['an object to read without its type', 'States/Many/ItemReader/ReaderConfig', {}, /needs InputType/],
    ['a type that is not interpreted', 'States/Many/ItemReader/ReaderConfig/InputType', 'CSV', /InputType: Invalid/],
    ['items from two places', 'States/Many/Items', [1], /both Items and ItemReader/],
    [
      'a task that outlives its express execution',
      'States/Many/ItemProcessor/States/One/TimeoutSeconds',
      301,
      /One may take 301 seconds/,
    ],
    [
      'a reader in an inline map',
      'States/Many/ItemProcessor/ProcessorConfig',
      { Mode: 'INLINE' },
      /ItemReader is for a Map in DISTRIBUTED mode/,
    ],
    ['a label with a space', 'States/Many/Label', 'A label', /Label: has a character/],
  ])('%s, which no validator finds, is refused', (_, path, value, issue) => {
    expect(issues(mutated(path, value))).toMatch(issue);
  });

  it('reassigning a variable of an outer scope is refused', () => {
    const inner = { StartAt: 'B', States: { B: { Type: 'Pass', Assign: { x: 2 }, End: true } } };
    const states = {
      A: { Type: 'Pass', Assign: { x: 1 }, Next: 'Both' },
      Both: { Type: 'Parallel', Branches: [inner], End: true },
    };
    expect(issues(JSON.parse(JSON.stringify(tinyMachine(states))))).toMatch(/B: \$x is a variable of an outer scope/);
  });

  it('a name without $states or a variable is refused during evaluation', async () => {
    for (const source of ['input.a', '$', '{"all": $}', '$states.input.a = b']) {
      const machine = tinyMachine({ A: { Type: 'Pass', Output: `{% ${source} %}`, End: true } });
      await expect(runStateMachine(machine, { input: { a: 1 } })).rejects.toThrow(/has nothing to look at/);
    }
  });
});
