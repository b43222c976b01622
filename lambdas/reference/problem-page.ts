import { type BodyFaultCode, faultCodes } from '../../core/contract.ts';
import { problems, problemType } from '../http/problem.ts';
import { hasDocs } from '../http/published.ts';
import type { Branding } from './branding.ts';
import { type ExplainedCode, explanations } from './explanations.ts';
import { escaped, inline } from './html.ts';
import { brandedPage } from './layout.ts';
import { errorId } from './parts.ts';
import type { PageLanguage } from './request.ts';

const texts = {
  en: {
    invalid: 'Invalid input',
    happened: 'What happened',
    remedy: 'What to do',
    codes: 'The codes in <code>errors</code>',
    codeOf: 'A code in the <code>errors</code> of',
    described: 'The API is described in',
    reference: 'API reference',
    inReference: 'In the',
  },
  nl: {
    invalid: 'Ongeldige invoer',
    happened: 'Wat er is gebeurd',
    remedy: 'Wat u kunt doen',
    codes: 'De codes in <code>errors</code>',
    codeOf: 'Een code in de <code>errors</code> van',
    described: 'De API is beschreven in',
    reference: 'API-documentatie',
    inReference: 'In de',
  },
};

/** Whether a code has a page. */
export function hasExplanation(code: string): code is ExplainedCode {
  return Object.hasOwn(explanations.en, code);
}

/** The heading of a code: the status and title of a problem, as in its responses, or the code of a fault. */
export function headingOf(code: ExplainedCode, language: PageLanguage = 'en'): string {
  return isFault(code) ? `${texts[language].invalid}: ${code}` : `${problems[code].status} ${problems[code].title}`;
}

/** The page about a problem or a code of a 422: a complete HTML document without scripts, which loads nothing. */
export async function problemPage(
  code: ExplainedCode,
  language: PageLanguage,
  branding: Branding,
): Promise<{ html: string; policy: string }> {
  const words = texts[language];
  const { happened, remedy } = explanations[language][code];
  const title = escaped(headingOf(code, language));
  const body = `<main class="problem">
<h1>${title}</h1>
<p><code>${isFault(code) ? `"code": "${code}"` : `"type": "${problemType(code)}"`}</code></p>
<h2>${words.happened}</h2>
<p>${inline(happened)}</p>
<h2>${words.remedy}</h2>
<p>${inline(remedy)}</p>
${code === 'invalid-input' ? faultList(language) : ''}
<p>${seeAlso(code, language)}</p>
</main>`;
  return await brandedPage({ language, branding, title, home: hasDocs() ? `/docs?lang=${language}` : '#', body });
}

function faultList(language: PageLanguage): string {
  const items = faultCodes.map((code) => {
    const { happened } = explanations[language][code];
    return `<dt id="${code}">${link(code, `<code>${code}</code>`, language)}</dt><dd>${inline(happened)}</dd>`;
  });
  return `<h2>${texts[language].codes}</h2>\n<dl>\n${items.join('\n')}\n</dl>`;
}

function seeAlso(code: ExplainedCode, language: PageLanguage): string {
  const { codeOf, described, inReference, reference } = texts[language];
  const place = hasDocs()
    ? `${inReference} <a href="/docs?lang=${language}#${errorId(code)}">${reference}</a>.`
    : `${described} <a href="/v1/openapi.json">openapi.json</a>.`;
  if (!isFault(code)) return place;
  return `${codeOf} ${link('invalid-input', escaped(headingOf('invalid-input', language)), language)}. ${place}`;
}

function link(code: ExplainedCode, text: string, language: PageLanguage): string {
  return `<a href="/problems/${code}${language === 'en' ? '' : `?lang=${language}`}">${text}</a>`;
}

function isFault(code: ExplainedCode): code is BodyFaultCode {
  return faultCodes.some((fault) => fault === code);
}
