import { explainError } from '../connect/errors.ts';

/** What one check found, and what to do about it. `warning`: it works now, but may not for everyone or much longer. */
export type Finding = {
  check: string;
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  found: string;
  advice: string | null;
};

/** Nothing to do. */
export function okay(check: string, found: string): Finding {
  return { check, state: 'ok', found, advice: null };
}

/** It works, but needs attention. */
export function warning(check: string, found: string, advice: string): Finding {
  return { check, state: 'warning', found, advice };
}

/** It does not work. */
export function failed(check: string, found: string, advice: string): Finding {
  return { check, state: 'failed', found, advice };
}

/** It was not checked. */
export function skipped(check: string, found: string, advice: string | null = null): Finding {
  return { check, state: 'skipped', found, advice };
}

/** Runs a check; an error that it throws becomes a failed finding. */
export async function examine(check: string, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = explainError(error);
    return failed(check, message, advice[code] ?? 'See docs/runbook.md.');
  }
}

const advice: Record<string, string> = {
  aws_credentials: 'Sign in ("aws sso login", "aws configure"), or set AWS_PROFILE.',
  aws_region: 'Set AWS_REGION, or a region in the AWS profile.',
  aws_access: 'Allow this identity to read it, or sign in as another one.',
  aws_not_found: 'Check the name, AWS_PROFILE and AWS_REGION. If it was never deployed: npx cdk deploy --all.',
  no_output: 'Deploy this version: npx cdk deploy --all.',
  not_running: 'Start it, in another terminal: npm start.',
  no_extract: 'Set source in bag-adres.json and deploy; until then name the extract: load run --extract URL.',
  source_unavailable: 'Wait until its server is back, or name another source: load run --extract URL.',
  unreachable: 'Check the network; a proxy or VPN may block the connection.',
};
