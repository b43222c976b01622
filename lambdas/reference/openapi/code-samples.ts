import { readFileSync } from 'node:fs';

const examples = new URL('../../../docs/examples/', import.meta.url);
const files = [
  ['Shell', 'curl', 'curl.sh'],
  ['TypeScript', 'TypeScript', 'typescript.ts'],
  ['Python', 'Python', 'python.py'],
  ['PHP', 'PHP', 'php.php'],
  ['C#', 'C#', 'csharp/Program.cs'],
] as const;

/** The complete programs of `docs/examples`, for `x-codeSamples` of the lookup. */
export function codeSamples(): { lang: string; label: string; source: string }[] {
  return files.map(([lang, label, file]) => ({ lang, label, source: readFileSync(new URL(file, examples), 'utf8') }));
}
