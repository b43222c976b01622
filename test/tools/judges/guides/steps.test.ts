import { describe, expect, it } from '@jest/globals';
import { stepsOf } from '../../../../tools/judges/guides/steps.ts';

const page = 'guide.md';
const list = '[The judge of the guides](judges.md) leaves out `aws acm`';
const text = (end: string) => `# A guide

## First

\`\`\`sh
# A comment, which is no heading
npx bag-adres init
aws acm list-certificates \\
  --output text
\`\`\`

\`\`\`json
"shared": { "alarmEmail": "beheer@example.nl" }
\`\`\`

\`\`\`json
{ "not": "of bag-adres.json" }
\`\`\`

Then \`npx cdk deploy --all\`, and \`aws acm describe-certificate\`.

### When that fails

Use \`aws cloudformation delete-stack --stack-name NAME\`.

## Second

In a clone, \`npm run prove\` does more: \`npx bag-adres gate\`.

${end}
`;

const steps = (end: string, chapters = {}) => stepsOf({ page, ...chapters }, text(end));
const shells = (end: string, chapters = {}) => steps(end, chapters).map(({ shell }) => shell);

describe('the steps of a guide', () => {
  it('are its commands and its settings in their order, without those in a clone', () => {
    expect(shells('')).toEqual([
      '# A comment, which is no heading\nnpx bag-adres init\naws acm list-certificates \\\n  --output text',
      '"shared": { "alarmEmail": "beheer@example.nl" }\n',
      'npx cdk deploy --all',
      'aws acm describe-certificate',
      'aws cloudformation delete-stack --stack-name NAME',
      'npx bag-adres gate',
    ]);
    expect(steps('').map(({ where }) => where)).toEqual(
      [6, 13, 20, 20, 24, 28].map((line) => `${page}:${line}`),
    );
    expect(steps('').filter(({ isSettings }) => isSettings).length).toBe(1);
  });

  it('lack the commands that the page lists, and those of the chapters that it links', () => {
    const end = `${list}\nand [When that fails](#when-that-fails).`;
    expect(steps(end).map(({ shell, leftOut }) => [shell, leftOut])).toEqual([
      ['# A comment, which is no heading\nnpx bag-adres init', 1],
      ['"shared": { "alarmEmail": "beheer@example.nl" }\n', 0],
      ['npx cdk deploy --all', 0],
      ['', 1],
      ['', 1],
      ['npx bag-adres gate', 0],
    ]);
  });

  it('are refused if the page lists what it does not have', () => {
    expect(() => steps(`${list}, \`aws s3 cp\`.`)).toThrow('no command fits part 2');
    expect(() => steps(`${list}, [Third](#third).`)).toThrow('There is no chapter "third".');
  });

  it('can be those of some chapters, which must exist', () => {
    expect(shells('', { from: 'Second' })).toEqual(['npx bag-adres gate']);
    expect(shells('', { before: 'First' })).toEqual([]);
    expect(() => shells('', { from: 'Third' })).toThrow('There is no chapter "third".');
  });
});
