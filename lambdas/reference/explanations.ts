import type { BodyFaultCode } from '../../core/contract.ts';
import type { ProblemCode } from '../http/problem.ts';
import { dutchExplanations } from './dutch.ts';
import { englishExplanations } from './english.ts';
import type { PageLanguage } from './request.ts';

/** Everything that has its own page under `/problems/`. */
export type ExplainedCode = ProblemCode | BodyFaultCode;

/** What happened, and what a consumer does about it; `code` spans are between backticks. */
export type Explanation = { happened: string; remedy: string };

/**
 * The one text on each problem and each code of a 422: its page, the reference and the OpenAPI document are made from
 * it.
 */
export const explanations: Record<PageLanguage, Record<ExplainedCode, Explanation>> = {
  en: englishExplanations,
  nl: dutchExplanations,
};
