import { describe, expect, it } from '@jest/globals';
import { highlightedJson, inline } from '../../../packages/reference/html.ts';
import { htmlText } from '../../support/html-text.ts';

describe('text as HTML', () => {
  it('renders code, bold and links, and escapes anything that looks like HTML', () => {
    expect(inline('`a` is **b**, see [c](https://example.nl/?d&e) <script>"')).toBe(
      '<code>a</code> is <strong>b</strong>, see <a href="https://example.nl/?d&amp;e">c</a> &lt;script&gt;&quot;',
    );
  });
});

describe('JSON as HTML', () => {
  it('is the same JSON for a reader of its text', () => {
    const value = {
      'a<b>': ['"x": 1, [2]', null, true],
      c: [],
      d: [{ e: -1.5 }],
      f: "'s-Gravenhage & <i>",
    };
    expect(JSON.parse(htmlText(highlightedJson(value)))).toEqual(value);
  });

  it('marks names, strings and other values, also inside of arrays', () => {
    expect(highlightedJson({ a: [null, 'b'] })).toBe(
      '{\n  <span class="name">&quot;a&quot;</span>: [<span class="value">null</span>, <span class="string">&quot;b&quot;</span>]\n}',
    );
  });
});
