import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ManifestEntry } from '../../../loader/dataset/load.ts';
import { renderStatus } from '../../../operator/cli/render-load.ts';
import { mutationStatus } from '../../../operator/deployment/open-loads.ts';
import { folderForNow } from '../../support/folder-for-now.ts';

const folder = folderForNow('bag-adres-list-');

/** A list with deliveries of these days of January. */
function listOf(...days: [from: string, to: string][]): string {
  const file = join(mkdtempSync(join(folder, 'list-')), 'bestanden.json');
  const names = days.map(([from, to]) => ({ naam: `BAGNLDM-${from}012026-${to}012026.zip` }));
  writeFileSync(file, JSON.stringify(names));
  return file;
}

const live: ManifestEntry = {
  load: '2026-01-12-0123456789',
  kind: 'mutations',
  peildatum: '2026-01-12',
  snapshot: { id: '2026-01-12-0123456789', segments: ['13'], buckets: 1, reach: ['13'] },
  identity: 'days',
  source: null,
  extract: { peildatum: '2026-01-08', identity: 'extract', isNational: true, gemeenten: [] },
  days: [],
  voorkomens: 1,
  nummeraanduidingen: 1,
  addresses: 1,
  lists: 0,
  added: 0,
  changed: 1,
  removed: 0,
  listsChanged: 0,
  gemeenteChanged: 0,
  problems: 0,
  at: '2026-01-13T05:30:00.000Z',
};

async function shownFor(list: string | undefined, published = live): Promise<string> {
  const mutations = await mutationStatus(published, list);
  const status = { published, pending: null, ageDays: 3, running: [], refused: [], mutations };
  return renderStatus(status);
}

describe('the status of a dataset that follows days of mutations', () => {
  it('shows the date of its extract, the days since, what was set aside, and that the next day is not available yet', async () => {
    const setAside = [{ object: 'WPL 1012', file: 'x.zip', why: 'renamed', addresses: 2 }];
    const shown = await shownFor(listOf(['11', '12'], ['10', '11']), { ...live, setAside });
    expect(shown).toContain(
      'until a corrected delivery or the next extract: 1 object, 2 addresses.',
    );
    expect(shown).toContain(
      'peildatum  2026-01-12, 3 days old\nextract    2026-01-08, and 4 days of mutations\n',
    );
    expect(shown).toContain('next       mutations from 2026-01-12 on, which are not listed yet\n');
  });

  it('names the deliveries that the next check will apply', async () => {
    const waiting = 'BAGNLDM-12012026-13012026.zip, BAGNLDM-13012026-14012026.zip';
    expect(await shownFor(listOf(['13', '14'], ['12', '13']))).toContain(
      `next       the next check applies ${waiting}\n`,
    );
  });

  it('says which day is missing, and what to do', async () => {
    const shown = await shownFor(listOf(['13', '14']));
    expect(shown).toContain('next       mutations from 2026-01-12 on\n');
    expect(shown).toMatch(
      /No mutations follow 2026-01-12: .* starts at 2026-01-13\. Pass the missing ones/,
    );
  });

  it("says why the list can't be read, and shows the rest", async () => {
    const shown = await shownFor(join(folder, 'nowhere.json'));
    expect(shown).toContain('peildatum  2026-01-12');
    expect(shown).toMatch(/There is no folder and no list of mutations at .*nowhere\.json/);
  });

  it('names the date of the next delivery where no list is configured', async () => {
    expect(await shownFor(undefined)).toContain('next       mutations from 2026-01-12 on\n');
  });

  it('does not mention mutations for a dataset of extracts alone', async () => {
    const extract = {
      peildatum: '2026-01-12',
      identity: 'extract',
      isNational: true,
      gemeenten: [],
    };
    expect(await shownFor(undefined, { ...live, kind: 'extract', extract })).not.toMatch(
      /next|mutations/,
    );
  });
});
