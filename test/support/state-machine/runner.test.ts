import { describe, expect, it } from '@jest/globals';
import { runStateMachine } from './run-state-machine.ts';
import { tinyMachine } from './tiny-machine.ts';

async function run(definition: unknown, input: unknown = {}) {
  return runStateMachine(definition, { input });
}

const pass = (more: Record<string, unknown> = {}) => ({ Type: 'Pass', End: true, ...more });
const expression = (source: string) => pass({ Output: `{% ${source} %}` });
const inputText = (letters: number) => ({ text: 'x'.repeat(letters) });

describe('a state machine', () => {
  const input = { list: [1, 2, 3], name: 'Weesp', none: null };

  it.each<[string, Record<string, unknown>, unknown]>([
    ['Pass hands on its input', { A: pass() }, input],
    ['an expression is replaced by its value', { A: expression('$states.input.name') }, 'Weesp'],
    ['text without marks is text', { A: pass({ Output: '$states.input.name' }) }, '$states.input.name'],
    [
      'expressions can be anywhere in an object or array',
      { A: pass({ Output: { a: ['{% $states.input.list[1] %}', 'b'], c: { d: '{% $states.input.none %}' } } }) },
      { a: [2, 'b'], c: { d: null } },
    ],
    [
      'a member of an object in an expression that is nothing is left out',
      { A: expression('{"a": $states.input.b, "c": 1}') },
      { c: 1 },
    ],
    ['one match is a value, not an array of one', { A: expression('$states.input.list[$ > 2]') }, 3],
    ['and brackets make it one', { A: expression('[$states.input.list[$ > 2]]') }, [3]],
    ['$partition cuts', { A: expression('$partition($states.input.list, 2)') }, [[1, 2], [3]]],
    ['$range counts', { A: expression('$range(10, 0, -5)') }, [10, 5, 0]],
    ['$hash hashes', { A: expression("$hash('abc', 'SHA-1')") }, 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['$random of a seed is the same', { A: expression('$random(7) = $random(7)') }, true],
    ['$uuid is one', { A: expression('$match($uuid(), /^[0-9a-f]{8}-/) != []') }, true],
    ['$parse reads JSON', { A: expression(`$parse('{"a":[1]}').a`) }, [1]],
    ['Succeed has an output', { A: { Type: 'Succeed', Output: '{% $states.input.name %}' } }, 'Weesp'],
    [
      'variables last, and Assign and Output both see the old ones',
      {
        A: { ...pass({ Assign: { x: 1, y: '{% $states.input.name %}' } }), End: undefined, Next: 'B' },
        B: { Type: 'Pass', Assign: { x: '{% $y %}', y: '{% $x %}' }, Output: '{% [$x, $y] %}', Next: 'C' },
        C: pass({ Output: ['{% $states.input %}', '{% $x %}', '{% $y %}'] }),
      },
      [[1, 'Weesp'], 'Weesp', 1],
    ],
    [
      'Choice takes the first rule that holds, with what that assigns',
      {
        A: {
          Type: 'Choice',
          Choices: [
            { Condition: "{% $states.input.name = 'Muiden' %}", Next: 'C' },
            { Condition: '{% $count($states.input.list) = 3 %}', Assign: { x: 3 }, Output: 'three', Next: 'B' },
            { Condition: '{% true %}', Next: 'C' },
          ],
          Assign: { x: 0 },
        },
        B: pass({ Output: '{% [$x, $states.input] %}' }),
        C: pass(),
      },
      [3, 'three'],
    ],
    [
      'and Default otherwise, with what the state assigns',
      {
        A: {
          Type: 'Choice',
          Choices: [{ Condition: '{% $exists($states.input.other) %}', Next: 'C' }],
          Default: 'B',
          Assign: { x: 0 },
        },
        B: pass({ Output: '{% [$x, $states.input.name] %}' }),
        C: pass(),
      },
      [0, 'Weesp'],
    ],
    [
      'the context has the execution, the state machine and the state',
      {
        A: expression(
          "[$states.context.State.Name, $states.context.StateMachine.Name, $states.context.Execution.Input.name, $contains($states.context.Execution.Id, ':execution:Machine:')]",
        ),
      },
      ['A', 'Machine', 'Weesp', true],
    ],
  ])('%s', async (_, states, output) => {
    expect(await run(tinyMachine(states), input)).toMatchObject({ status: 'SUCCEEDED', output });
  });

  it('records the duration of a Wait instead of waiting', async () => {
    const { events } = await run(
      tinyMachine({
        A: { Type: 'Wait', Seconds: '{% 60 * 60 %}', End: true },
      }),
    );
    expect(events.filter(({ kind }) => kind === 'waited')).toEqual([{ kind: 'waited', state: 'A', seconds: 3600 }]);
  });

  it('accepts an input of exactly the payload limit, and refuses a larger one', async () => {
    const machine = tinyMachine({ A: { Type: 'Succeed', Output: 'fits' } });
    const most = 262_144 - '{"text":""}'.length;
    expect(await run(machine, inputText(most))).toMatchObject({ status: 'SUCCEEDED' });
    expect(await run(machine, inputText(most + 1))).toMatchObject({ error: 'States.DataLimitExceeded' });
  });
});
