import { type LoadReport, RefusedLoadError } from '../../loader/steps/load-report.ts';
import { type LoadRequest, type Loads, type RefusedLoad, refusedLoads } from '../connect/loads.ts';
import { CommandError, type Terminal } from './arguments.ts';
import type { LoadOptions } from './load.ts';
import type { Result } from './output.ts';
import { renderChanges, renderReport } from './render-load.ts';

/** What a plan shows, and what would come of running it. */
export function planned({ where }: Loads, report: LoadReport): Result {
  const result = { json: report, text: renderReport(report) };
  const { objections, approved, load } = report;
  if (objections.length === 0 || approved) return result;
  const why = objections.map(({ message }) => message).join('; ');
  return {
    ...result,
    hint: `Running it would be blocked: ${why}. "load approve ${load} ${where}" runs it all the same.`,
  };
}

/**
 * Runs a load and gives what came of it.
 * @throws CommandError `blocked` with the reasons, after showing people what the load would have changed
 */
export async function ran(
  terminal: Terminal,
  { json }: LoadOptions,
  loads: Loads,
  request: LoadRequest | (() => Promise<LoadReport>),
): Promise<Result> {
  try {
    const report = await (typeof request === 'function' ? request() : loads.start(request));
    return { json: report, text: renderReport(report) };
  } catch (error) {
    if (!(error instanceof RefusedLoadError)) throw error;
    if (!json) terminal.err(renderChanges(error.report));
    throw blocked(error, loads);
  }
}

function blocked({ report }: RefusedLoadError, { where }: Loads): CommandError {
  const { peildatum, load, objections } = report;
  const why = objections.map(({ message }) => message).join('; ');
  return new CommandError(
    'blocked',
    `The load of ${peildatum} is blocked, nothing was written: ${why}. If that is right, run "load approve ${load} ${where}".`,
    { details: { load, peildatum, objections } },
  );
}

/** Runs a load that was blocked: the named one, or the only one. @throws CommandError */
export async function approveLoad(
  terminal: Terminal,
  options: LoadOptions,
  loads: Loads,
  id: string | undefined,
): Promise<Result> {
  const { load, request } = choose(await refusedLoads(loads.places.storage), id, loads);
  const result = await ran(terminal, options, loads, request);
  const report = result.json as LoadReport;
  if (report.load === load || report.outcome === 'unchanged') return result;
  return { ...result, hint: `The extract was replaced since: this is load ${report.load}, which needed no approval.` };
}

function choose(refused: RefusedLoad[], id: string | undefined, { where }: Loads): RefusedLoad {
  const names = refused.map(({ load }) => load).join(', ');
  if (id !== undefined) {
    const named = refused.find(({ load }) => load === id);
    if (named) return named;
    const others = names === '' ? 'none is' : `these are: ${names}`;
    throw new CommandError('not_found', `No load "${id}" is blocked; ${others}. "load status ${where}" shows them.`);
  }
  const [only, ...more] = refused;
  if (!only) throw new CommandError('not_found', 'No load is blocked, so there is nothing to approve.');
  if (more.length > 0) throw new CommandError('ambiguous', `Several loads are blocked; name one of ${names}.`);
  return only;
}
