import type { BodyFaultCode } from '../../core/contract.ts';
import type { ProblemCode } from '../http/problem.ts';
import { dutch } from './dutch.ts';
import { english } from './english.ts';
import type { Language } from './request.ts';

/** Everything that has its own page under `/problems/`. */
export type ExplainedCode = ProblemCode | BodyFaultCode;

/** What happened, and what a consumer does about it; `code` spans are between backticks. */
export type Explanation = { happened: string; remedy: string };

/** The one text on each problem and each code of a 422: its page, the reference and the OpenAPI document are made from it. */
export const explanations: Record<Language, Record<ExplainedCode, Explanation>> = { en: english, nl: dutch };
