import { describe, expect, it } from '@jest/globals';
import { markdownOf } from '../../../packages/reference/markdown.ts';

const markdown = (html: string) => markdownOf(`<main id="top">${html}</main>`);

describe('a page as Markdown', () => {
  it('has a heading of each level, without its id', () => {
    const levels = [1, 2, 3, 4].map((level) => `<h${level} id="x">a &amp; b</h${level}>`);
    expect(markdown(levels.join(''))).toBe('# a & b\n\n## a & b\n\n### a & b\n\n#### a & b\n');
  });

  it('has the first program in every language, and of the others curl', () => {
    const programs = ['curl', 'php']
      .map((code, index) => `<div class="program-${index}">${code}</div>`)
      .join('\n');
    const html = `<div class="programs">\n${programs}\n</div>\n`;
    expect(markdown(html + html).match(/curl|php/g)).toEqual(['curl', 'php', 'curl']);
  });

  it('escapes the bar of a table in a cell', () => {
    const html =
      '<table><thead><tr><th>a</th><th>b</th></tr></thead>\n<tbody><tr><td>c|d</td><td>e</td></tr></tbody></table>';
    expect(markdown(html)).toMatch(/^\| a \| b \|\n\| --- \| --- \|\n?\| c\\\|d \| e \|$/m);
  });
});
