import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../../packages/form/', import.meta.url));

/** The form element as pages get it: one file, minified, made from `packages/form/source`. */
export async function formScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`${folder}source/form-element.js`],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    banner: { js: '/*! bag-adres-form, MIT */' },
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync(`${folder}bag-adres-form.js`, await formScript());
}
