import { explainError } from '../cli/explain-error.ts';

/** What one check found, and what to do about it. `warning`: it works, and it won't for ever. */
export type Finding = {
  check: string;
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  found: string;
  advice: string | null;
};

/** All is well. */
export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, advice: null };
}

/** It works, but not for ever, or not for everyone. */
export function warning(check: string, found: string, advice: string): Finding {
  return { check, state: 'warning', found, advice };
}

/** It does not work. */
export function failed(check: string, found: string, advice: string): Finding {
  return { check, state: 'failed', found, advice };
}

/** It was not looked at. */
export function skipped(check: string, found: string, advice: string | null = null): Finding {
  return { check, state: 'skipped', found, advice };
}

/** Runs a check; what it throws is what it found. */
export async function examine(check: string, work: () => Promise<Finding>): Promise<Finding> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = explainError(error);
    return failed(check, message, advice[code] ?? 'Look into the message; docs/runbook.md says more.');
  }
}

const advice: Record<string, string> = {
  aws_credentials: 'Sign in ("aws sso login", "aws configure"), or set AWS_PROFILE.',
  aws_region: 'Set AWS_REGION, or a region in the AWS profile.',
  aws_access: 'Let this identity read it, or sign in as another one.',
  aws_not_found: 'Check the name, AWS_PROFILE and AWS_REGION; if it was never made: npx cdk deploy --all.',
  no_output: 'Deploy again with this version: npx cdk deploy --all.',
  not_running: 'Start it, in another terminal: npm start.',
  unreachable: 'Check the connection; a proxy or a VPN may be in the way.',
};
