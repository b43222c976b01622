import { describe, expect, it } from '@jest/globals';
import { parseMachine } from './check-definition.ts';
import { good, mistakes, mutated, retry } from './definition-mistakes.ts';
import { NotInterpretedError } from './errors.ts';
import { lambdaInvoke, lambdaInvokeArn } from './lambda-invoke.ts';
import { runStateMachine } from './run-state-machine.ts';
import { serviceCall } from './service-call.ts';
import { tinyMachine } from './tiny-machine.ts';
import { aslFaults } from './validate-definition.ts';

const known = {
  integrations: {
    [lambdaInvokeArn]: lambdaInvoke({ F: () => null, G: () => null }),
    'arn:aws:states:::sns:publish': serviceCall({ TopicArn: 'required', Message: 'required' }, async () => null),
  },
  functionErrors: ['BusyError'],
};

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
  it('passes the validator and is interpreted', () => {
    expect(aslFaults(JSON.parse(JSON.stringify(good)))).toEqual([]);
    expect(issues(JSON.parse(JSON.stringify(good)))).toBe('');
  });
});

describe('a mistake in a definition', () => {
  it.each(mistakes)('%s is found by a validator and refused', (_, path, value, finders, issue) => {
    const definition = mutated(path, value);
    expect(aslFaults(definition).length > 0).toBe(finders.includes('aslValidator'));
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
    ['a batcher without a size', 'States/Many/ItemBatcher', { BatchInput: {} }, /MaxItemsPerBatch: Invalid/],
    [
      'a writer with the arguments of JSONPath',
      'States/Many/ResultWriter/Parameters',
      {},
      /Unrecognized key: "Parameters"/,
    ],
    ['a writer without a place', 'States/Many/ResultWriter/Arguments', undefined, /Arguments: Invalid/],
    ['an object to read without its type', 'States/Many/ItemReader/ReaderConfig', {}, /InputType: Invalid/],
    ['a type that is not interpreted', 'States/Many/ItemReader/ReaderConfig/InputType', 'CSV', /InputType: Invalid/],
    ['items of the input', 'States/Many/Items', [1], /Unrecognized key: "Items"/],
    [
      'a map within this execution',
      'States/Many/ItemProcessor/ProcessorConfig',
      { Mode: 'INLINE' },
      /ProcessorConfig\/Mode: Invalid/,
    ],
    ['failed items that are tolerated', 'States/Many/ToleratedFailureCount', 1, /"ToleratedFailureCount"/],
    ['a label with a space', 'States/Many/Label', 'A label', /Label: has a character/],
  ])('%s, which no validator finds, is refused', (_, path, value, issue) => {
    expect(issues(mutated(path, value))).toMatch(issue);
  });

  it('a name without $states or a variable is refused during evaluation', async () => {
    for (const source of ['input.a', '$', '{"all": $}', '$states.input.a = b']) {
      const machine = tinyMachine({ A: { Type: 'Pass', Output: `{% ${source} %}`, End: true } });
      await expect(runStateMachine(machine, { input: { a: 1 } })).rejects.toThrow(/has nothing to look at/);
    }
  });
});
