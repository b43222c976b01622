import { describe, expect, it } from '@jest/globals';
import { runStateMachine } from './run-state-machine.ts';
import { tinyMachine } from './tiny-machine.ts';

async function run(definition: unknown, input: unknown = {}) {
  return runStateMachine(definition, { input });
}

const pass = (more: Record<string, unknown> = {}) => ({ Type: 'Pass', End: true, ...more });
const expression = (source: string) => pass({ Output: `{% ${source} %}` });

describe('a state machine', () => {
  const input = { list: [1, 2, 3], name: 'Weesp' };

  it.each<[string, Record<string, unknown>, string, RegExp]>([
    [
      'an expression without a result',
      { A: expression('$states.input.other') },
      'States.QueryEvaluationError',
      /\$states\.input\.other.*'Output' returned nothing/,
    ],
    [
      'a sum of a text',
      { A: expression('1 + $states.input.name') },
      'States.QueryEvaluationError',
      /must evaluate to a number/,
    ],
    [
      'a function as a value',
      { A: expression('function($x) { $x }') },
      'States.QueryEvaluationError',
      /a function is no JSON/,
    ],
    [
      'a Condition that is not a boolean',
      { A: { Type: 'Choice', Choices: [{ Condition: '{% $states.input.list %}', Next: 'B' }] }, B: pass() },
      'States.QueryEvaluationError',
      /no boolean/,
    ],
    [
      'a Choice that nothing matches',
      { A: { Type: 'Choice', Choices: [{ Condition: '{% false %}', Next: 'B' }] }, B: pass() },
      'States.Runtime',
      /No choice matched/,
    ],
    [
      'an invalid number of seconds',
      { A: { Type: 'Wait', Seconds: '{% $states.input.name %}', End: true } },
      'States.QueryEvaluationError',
      /"Weesp" for the field 'Seconds'/,
    ],
    [
      'Fail',
      { A: { Type: 'Fail', Error: 'TooMany', Cause: "{% 'of ' & $states.input.name %}" } },
      'TooMany',
      /^of Weesp$/,
    ],
    [
      'an output that is too large',
      { A: expression("$join($map($range(1, 1000, 1), function($n) { $pad('', 300, 'x') }))") },
      'States.DataLimitExceeded',
      /300002 bytes/,
    ],
    [
      'an Assign that is too large',
      { A: { ...pass({ Assign: { a: "{% $pad('', 140000) %}", b: "{% $pad('', 140000) %}" } }) } },
      'States.DataLimitExceeded',
      /280004 bytes/,
    ],
    [
      'an expression of the rule that holds, named by its place',
      {
        A: { Type: 'Choice', Choices: [{ Condition: true, Output: [{ v: '{% $states.input.other %}' }], Next: 'B' }] },
        B: pass(),
      },
      'States.QueryEvaluationError',
      /'Choices\[0\]\/Output\[0\]\/v'/,
    ],
  ])('fails with %s', async (_, states, error, cause) => {
    const execution = await run(tinyMachine(states), input);
    expect(execution).toMatchObject({ status: 'FAILED', error, cause: expect.stringMatching(cause) });
  });
});
