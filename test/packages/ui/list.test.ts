import { describe, expect, it } from '@jest/globals';
import { type List, type ListPage, listOf } from '../../../packages/ui/list.ts';

type Row = { name: string; state: string };

const rows: Row[] = [
  { name: 'b', state: 'new' },
  { name: 'c', state: 'active' },
  { name: 'a', state: 'old' },
];
const columns: List<Row>['columns'] = [
  { name: 'name', label: 'Name', show: ({ name }) => name, sort: ({ name }) => name },
  { name: 'state', label: 'State', show: ({ state }) => state, sort: ({ state }) => state },
  { name: 'plain', label: 'Plain', show: () => '-' },
];
const text: ListPage['text'] = {
  show: 'Show',
  hide: 'Hide',
  search: 'Search',
  sortBy: 'Sort by',
  noneFound: 'None found',
  paging: { pages: 'pages', previous: 'Previous', next: 'Next', first: 'First' },
  rowsOf: (from, to, all) => `${from} to ${to} of ${all}`,
  valueNow: (value) => value,
};

/** The names in a list, in its order, and the whole of it. */
async function listed(query: Record<string, string>, shown: readonly Row[] = rows) {
  const page: ListPage = { path: '/list', query, text, form: {}, format: { number: String } };
  const html = String(
    await listOf(page, { caption: 'All', columns, rows: shown, none: 'None', keeps: ['at'] }),
  );
  const names = [...html.matchAll(/data-label="Name"><div>([^<]*)/g)].map(([, name]) => name);
  return { html, names: names.join('') };
}

describe('a list', () => {
  it.each([
    ['as given', {}, 'bca'],
    ['by the chosen column', { sort: 'state' }, 'cba'],
    ['by another column', { sort: 'name' }, 'abc'],
    ['downwards', { sort: 'name', order: 'down' }, 'cba'],
    ['as given, for a column that cannot sort', { sort: 'plain' }, 'bca'],
    ['as given, for a column that does not exist', { sort: 'no', order: 'down' }, 'bca'],
  ])('is in an order: %s', async (_, query, names) => {
    expect((await listed(query)).names).toBe(names);
  });

  it('marks the column that sorts it, whose head then reverses the order', async () => {
    const { html } = await listed({ sort: 'name', at: '5' });
    expect(html).toContain(
      'aria-sort="ascending"><a href="/list?at=5&amp;sort=name&amp;order=down">Name ↑',
    );
    expect(html).toContain('<a href="/list?at=5&amp;sort=state">State</a>');
    expect(html.match(/aria-sort/g)).toHaveLength(1);
  });

  it('has pages of twenty rows, and the last page for a later or an odd number', async () => {
    const many = Array.from({ length: 41 }, (_, at) => ({
      name: String.fromCodePoint(0x4e00 + at),
      state: 'x',
    }));
    const lengths = ['1', '2', '3', '4', '0', '-1', 'x', '2.9'].map(
      async (page) => (await listed({ page }, many)).names.length,
    );
    expect(await Promise.all(lengths)).toEqual([20, 20, 1, 1, 20, 20, 20, 20]);
    expect((await listed({ page: '3' }, many)).html).toContain('41 to 41 of 41');
    expect((await listed({}, many.slice(0, 20))).html).not.toContain('<nav');
  });
});
