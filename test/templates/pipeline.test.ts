import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { deploymentName, portalStackName } from '../../lib/config/deployment.ts';
import { everything, portal, type Template, templates } from '../lib/synthesized.ts';

/** The actions of a policy of the example, of every statement. */
function actionsIn(file: string): string[] {
  const { Statement } = JSON.parse(readFileSync(`docs/examples/pipeline/${file}`, 'utf8')) as {
    Statement: { Action: string | string[] }[];
  };
  return Statement.flatMap(({ Action }) => Action);
}

/** What the actions of a service begin with, where that is not its name in CloudFormation. */
const prefixes: Readonly<Record<string, string>> = {
  ApiGatewayV2: 'apigateway',
  Cognito: 'cognito-idp',
  StepFunctions: 'states',
};

describe('the policies of the example pipeline', () => {
  let all: Template[];
  beforeAll(async () => {
    const { data, service, loader, stack } = await templates({ ...everything, portal });
    all = [data, service, loader, stack(portalStackName(deploymentName(everything.stage))).template];
  }, 60_000);

  it('let CloudFormation create every resource of every stack', () => {
    const services = new Set(
      all
        .flatMap(({ Resources }) => Object.values(Resources).map(({ Type }) => Type.split('::')))
        .map(([, name = '']) => name),
    );
    expect(services.size).toBeGreaterThan(10);
    const allowed = actionsIn('execution-policy.json').map((action) => action.split(':', 1)[0]);
    const missing = [...services].filter((name) => !allowed.includes(prefixes[name] ?? name.toLowerCase()));
    expect(missing).toEqual([]);
  });

  it('allow every command of doctor', () => {
    const sources = globSync('bin/doctor/*.ts').map((file) => readFileSync(file, 'utf8'));
    const sent = sources.flatMap((source) => [...source.matchAll(/new (\w+)Command\(/g)].map(([, name = '']) => name));
    expect(sent.length).toBeGreaterThan(5);
    const allowed = actionsIn('deploy-policy.json').map((action) => action.split(':')[1]);
    // Whoever has credentials may ask whose they are.
    expect(sent.filter((command) => command !== 'GetCallerIdentity' && !allowed.includes(command))).toEqual([]);
  });
});
