import { describe, expect, it } from '@jest/globals';
import { rehearse, rehearseDocs } from '../../../tools/rehearsal/rehearse.ts';
import { isFullSweep } from '../../support/sweep.ts';

const problemsOf = async (text: string) => (await rehearse(new Map([['guide.md', text]]))).problems;

describe('the rehearsal', () => {
  (isFullSweep ? it : it.skip)('finds every command of the deployment guide and the runbook in order', async () => {
    const { calls, problems } = await rehearseDocs();
    expect(problems).toEqual([]);
    expect(calls).toBeGreaterThan(50);
  });

  it.each([
    ['a command of ours that no longer exists', 'npx bag-adres load undo --stage a', /Unknown command 'undo'/],
    ['an option of ours that no longer exists', 'npx bag-adres load run --force --stage a', /option '--force'/i],
    ['options without --', 'npm start --help', /put -- before --help/],
    ['a script that no longer exists', 'npm run deploy', /no npm script "deploy"/],
    ['an option of npm start', 'npm start -- --prot 1', /no option --prot/],
    ['a command of the CDK', 'npx cdk publish', /cdk has no command "publish"/],
    ['an option of the CDK', 'npx cdk deploy --everything', /cdk deploy has no option --everything/],
    ['an AWS operation', 'aws dynamodb drop-table --table-name x', /dynamodb has no command "drop-table"/],
    ['an AWS option', 'aws dynamodb describe-table --name x', /no option --name/],
    ['a table deleted by hand', 'aws dynamodb delete-table --table-name x', /destroys data: its point-in-time/],
    ['a backup deleted by hand', 'aws dynamodb delete-backup --backup-arn x', /only copy of a table/],
    ['a copy that deletes', 'aws s3 sync --delete s3://a s3://b', /there is no option --delete/],
    ['a secret deleted by hand', 'aws secretsmanager delete-secret --secret-id x', /every key or session rests/],
    ['an AWS service', 'aws dynamite explode', /not in the list/],
    ['a waiter', 'aws cloudformation wait stack-gone --stack-name x', /no command "wait stack-gone"/],
    ['a shell that does not parse', 'npm run "bag-adres', /the shell says/],
    ['a variable that nothing sets', 'aws s3 rm "s3://$BUCKET"', /BUCKET: unbound variable/],
    ['a function that nothing defines', 'aws s3 rm "s3://$(output x)"', /output: command not found/],
  ])('finds %s', async (_, command, problem) => {
    const found = await problemsOf(`Text.\n\n\`\`\`sh\n${command}\n\`\`\`\n`);
    expect(found).toEqual([expect.stringMatching(problem)]);
    expect(found[0]).toMatch(/^guide\.md:4: /);
  });

  it.each([
    'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name x',
    'aws secretsmanager create-secret --name x --secret-string y --region z',
    'aws stepfunctions stop-execution --execution-arn x --query y --output text',
    'npx cdk deploy --all -c bagAdres.stage=trial --require-approval never',
    'npx cdk ls --no-lookups -l',
    'npx bag-adres smoke --url x --key y',
    'npm start -- --port 1',
    'for stack in a b; do npx cdk diff "$stack"; done',
  ])('accepts an existing command: %s', async (command) => {
    expect(await problemsOf(`\`\`\`sh\n${command}\n\`\`\`\n`)).toEqual([]);
  });

  it('finds what would fail in a GitHub workflow, whose variables come from its settings', async () => {
    const workflow = (script: string) =>
      `jobs:\n  a:\n    steps:\n      - run: npm ci\n      - run: |\n          ${script}\n        env:\n          URL: \${{ vars.URL }}\n`;
    const problems = async (script: string) => (await rehearse(new Map([['a.yml', workflow(script)]]))).problems;
    expect(await problems('npx bag-adres smoke --url "$URL"')).toEqual([]);
    expect(await problems('npx bag-adres smoke --link "$URL"')).toEqual([expect.stringMatching(/^a\.yml:5: .*--link/)]);
    expect(await problems('npx cdk publish --all')).toEqual([expect.stringMatching(/no command "publish"/)]);
  });

  it('carries variables and functions from one block to the next, and reads commands in running text', async () => {
    const text = '```sh\nname=x\nout() { echo "$name-$1"; }\n```\nThen `npx bag-adres load\nrun --stage x`, and\n';
    expect(await problemsOf(`${text}\`\`\`sh\naws s3 rm "s3://$(out y)" --recursive\n\`\`\`\n`)).toEqual([]);
    expect(await problemsOf('Text\nand `npx cdk\nfly`.\n')).toEqual([expect.stringMatching(/^guide\.md:2: .*"fly"/)]);
  });
});
