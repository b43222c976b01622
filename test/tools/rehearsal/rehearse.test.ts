import { describe, expect, it } from '@jest/globals';
import { rehearse, rehearseDocs } from '../../../tools/rehearsal/rehearse.ts';
import { isFullSweep } from '../../support/sweep.ts';

const problemsOf = async (text: string) => (await rehearse(new Map([['guide.md', text]]))).problems;

describe('the rehearsal', () => {
  (isFullSweep ? it : it.skip)(
    'finds every command of the deployment guide and the runbook in order',
    async () => {
      const { calls, problems } = await rehearseDocs();
      expect(problems).toEqual([]);
      expect(calls).toBeGreaterThan(50);
    },
  );

  const block = (command: string) => `\`\`\`sh\n${command}\n\`\`\`\n`;

  it('finds each command and option that does not exist, and each that destroys data, by its line', async () => {
    const wrong: [command: string, problem: RegExp][] = [
      ['npx bag-adres load undo --stage a', /Unknown command 'undo'/],
      ['npx bag-adres load run --force --stage a', /[Oo]ption '--force'/],
      ['npm start --help', /put -- before --help/],
      ['npm run deploy', /no npm script "deploy"/],
      ['npm start -- --prot 1', /no option --prot/],
      ['npx cdk publish', /cdk has no command "publish"/],
      ['npx cdk deploy --everything', /cdk deploy has no option --everything/],
      ['aws dynamodb drop-table --table-name x', /dynamodb has no command "drop-table"/],
      ['aws dynamodb describe-table --name x', /no option --name/],
      ['aws dynamodb delete-table --table-name x', /destroys data: its point-in-time/],
      ['aws dynamodb delete-backup --backup-arn x', /only copy of a table/],
      ['aws s3 sync --delete s3://a s3://b', /there is no option --delete/],
      ['aws secretsmanager delete-secret --secret-id x', /every key or session rests/],
      ['aws dynamite explode', /not in the list/],
      ['aws cloudformation wait stack-gone --stack-name x', /no command "wait stack-gone"/],
    ];
    const found = await problemsOf(wrong.map(([command]) => block(command)).join(''));
    expect(found).toEqual(
      wrong.map(([, problem], i) =>
        expect.stringMatching(`^guide\\.md:${3 * i + 2}: .*${problem.source}`),
      ),
    );
  });

  it.each([
    ['a shell that does not parse', 'npm run "bag-adres', /the shell says/],
    ['a variable that nothing sets', 'aws s3 rm "s3://$BUCKET"', /BUCKET: unbound variable/],
    [
      'a function that nothing defines',
      'aws s3 rm "s3://$(output x)"',
      /output: command not found/,
    ],
  ])('finds %s', async (_, command, problem) => {
    const found = await problemsOf(`Text.\n\n${block(command)}`);
    expect(found).toEqual([expect.stringMatching(problem)]);
    expect(found[0]).toMatch(/^guide\.md:4: /);
  });

  it('accepts existing commands', async () => {
    const right = [
      'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name x',
      'aws secretsmanager create-secret --name x --secret-string y --region z',
      'aws stepfunctions stop-execution --execution-arn x --query y --output text',
      'npx cdk deploy --all -c bagAdres.stage=trial --require-approval never',
      'npx cdk ls --no-lookups -l',
      'npx bag-adres smoke --url x --key y',
      'npm start -- --port 1',
      'for stack in a b; do npx cdk diff "$stack"; done',
    ];
    expect(await problemsOf(right.map(block).join(''))).toEqual([]);
  });

  it('finds what would fail in a GitHub workflow, whose variables come from its settings', async () => {
    const workflow = (script: string) =>
      `jobs:\n  a:\n    steps:\n      - run: npm ci\n      - run: |\n          ${script}\n        env:\n          URL: \${{ vars.URL }}\n`;
    const problems = async (script: string) =>
      (await rehearse(new Map([['a.yml', workflow(script)]]))).problems;
    expect(await problems('npx bag-adres smoke --url "$URL"')).toEqual([]);
    expect(await problems('npx bag-adres smoke --link "$URL"')).toEqual([
      expect.stringMatching(/^a\.yml:5: .*--link/),
    ]);
    expect(await problems('npx cdk publish --all')).toEqual([
      expect.stringMatching(/no command "publish"/),
    ]);
  });

  it('carries variables and functions from one block to the next, and reads commands in running text', async () => {
    const text =
      '```sh\nname=x\nout() { echo "$name-$1"; }\n```\nThen `npx bag-adres load\nrun --stage x`, and\n';
    expect(
      await problemsOf(`${text}\`\`\`sh\naws s3 rm "s3://$(out y)" --recursive\n\`\`\`\n`),
    ).toEqual([]);
    expect(await problemsOf('Text\nand `npx cdk\nfly`.\n')).toEqual([
      expect.stringMatching(/^guide\.md:2: .*"fly"/),
    ]);
  });
});
