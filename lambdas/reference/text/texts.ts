import type { BodyFaultCode } from '../../../core/contract.ts';
import type { ProblemCode } from '../../http/problem.ts';
import type { Language } from '../../page/language.ts';
import { en } from './en.ts';
import { nl } from './nl.ts';

/** Everything that has its own page under `/problems/`. */
export type ExplainedCode = ProblemCode | BodyFaultCode;

/** What happened, and what a consumer does about it; `code` spans are between backticks. */
export type Explanation = { happened: string; remedy: string };

/** The names of the paragraphs in the introduction of the OpenAPI document. */
export const paragraphNames = [
  'Toevoeging',
  'Keys',
  'Outcomes',
  'Problems',
  'Quota',
  'Gateway',
  'Test addresses',
  'Storing results',
  'Compatibility',
] as const;

/** The texts that the OpenAPI document has in English. */
export type Descriptions = {
  lead: string;
  paragraphs: Record<(typeof paragraphNames)[number], string>;
  /** By name of a parameter of the lookup. */
  parameterForms: Record<string, string>;
  /** By name of a header. */
  headerMeanings: Record<string, string>;
  /** By name of an example of a lookup. */
  exampleTitles: Record<string, string>;
  /** By `operationId`. */
  operations: Record<string, string>;
};

/** Every text of the reference, in a language; the explanations are also the texts of the OpenAPI document. */
export type ReferenceText = Omit<typeof en, 'explanations'> & { explanations: Record<ExplainedCode, Explanation> };

/** The texts of a language other than that of the OpenAPI document, which has its own descriptions in English. */
export type TranslatedText = ReferenceText & Descriptions;

type Translated = Exclude<Language, 'en'>;

export const texts: { en: ReferenceText } & Record<Translated, TranslatedText> = { en, nl };
