import { type BodyFaultCode, faultCodes } from '../../core/contract.ts';
import { problems, problemType } from '../../core/problems.ts';
import type { Language } from '../ui/language.ts';
import { escaped } from '../ui/samples.ts';
import { brandedPage } from './branded-page.ts';
import { faultExamples } from './fault-examples.ts';
import { inline } from './html.ts';
import { errorId } from './reference-parts.ts';
import type { Site } from './site.ts';
import type { ExplainedCode } from './text/en.ts';
import { referenceTexts, textsIn } from './text/texts.ts';

/** Whether a code has a page. */
export function hasExplanation(code: string): code is ExplainedCode {
  return Object.hasOwn(referenceTexts.en.explanations, code);
}

/**
 * The heading of a code: the status and title of a problem, as in its responses, or the code of a
 * fault.
 */
export function headingOf(code: ExplainedCode, language: Language = 'en'): string {
  return isFault(code)
    ? `${referenceTexts[language].problemPage.invalid}: ${code}`
    : `${problems[code].status} ${problems[code].title}`;
}

/**
 * The page about a problem or a code of a 422: a complete HTML document without scripts, which
 * loads nothing.
 */
export function problemPage(
  code: ExplainedCode,
  language: Language,
  site: Site,
): { html: string; policy: string } {
  const { explanations, problemPage: words } = textsIn(language, site.available);
  const [happened, remedy] = explanations[code];
  const title = escaped(headingOf(code, language));
  const body = `<main class="page problem">
<h1>${title}</h1>
<p><code>${isFault(code) ? `"code": "${code}"` : `"type": "${problemType(code)}"`}</code></p>
<h2>${words.happened}</h2>
<p>${inline(happened)}</p>
${isFault(code) ? exampleOf(code, language) : ''}<h2>${words.remedy}</h2>
<p>${inline(remedy)}</p>
${code === 'invalid-input' ? faultList(language) : ''}
<p>${seeAlso(code, language, site)}</p>
</main>`;
  const { branding } = site;
  return brandedPage({
    language,
    branding,
    title,
    description: inline(happened),
    home: homeOf(language, site),
    body,
  });
}

/** The page at the address of an unknown problem, with links to the known problems. */
export function unknownProblemPage(
  language: Language,
  site: Site,
): { html: string; policy: string } {
  const { explanations, problemPage: words } = referenceTexts[language];
  const codes = Object.keys(explanations) as ExplainedCode[];
  const links = codes.map(
    (code) => `<li>${link(code, escaped(headingOf(code, language)), language)}</li>`,
  );
  const body = `<main class="page problem">
<h1>${words.unknown}</h1>
<p>${words.known}</p>
<ul>
${links.join('\n')}
</ul>
</main>`;
  const { unknown: title, known: description } = words;
  const { branding } = site;
  return brandedPage({
    language,
    branding,
    title,
    description,
    home: homeOf(language, site),
    body,
  });
}

const homeOf = (language: Language, { hasDocs }: Site) =>
  hasDocs ? `/docs?lang=${language}` : '#';

function faultList(language: Language): string {
  const items = faultCodes.map((code) => {
    const [happened] = referenceTexts[language].explanations[code];
    return `<dt id="${code}">${link(code, `<code>${code}</code>`, language)}</dt>
<dd>${inline(happened)}${exampleOf(code, language)}</dd>`;
  });
  return `<h2>${referenceTexts[language].problemPage.codes}</h2>\n<dl>\n${items.join('\n')}\n</dl>`;
}

const exampleOf = (code: BodyFaultCode, language: Language) =>
  code === 'include-unavailable' || code === 'value-too-long'
    ? ''
    : `<p class="example">${referenceTexts[language].exampleOf} <code>${escaped(faultExamples[code])}</code></p>\n`;

function seeAlso(code: ExplainedCode, language: Language, { hasDocs }: Site): string {
  const { codeOf, described, inReference, reference } = referenceTexts[language].problemPage;
  const place = hasDocs
    ? `${inReference} <a href="/docs?lang=${language}#${errorId(code)}">${reference}</a>.`
    : `${described} <a href="/v1/openapi.json">openapi.json</a>.`;
  if (!isFault(code)) return place;
  return `${codeOf} ${link('invalid-input', escaped(headingOf('invalid-input', language)), language)}. ${place}`;
}

function link(code: ExplainedCode, text: string, language: Language): string {
  return `<a href="/problems/${code}?lang=${language}">${text}</a>`;
}

function isFault(code: ExplainedCode): code is BodyFaultCode {
  return faultCodes.some((fault) => fault === code);
}
