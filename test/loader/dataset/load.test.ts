import { describe, expect, it } from '@jest/globals';
import {
  begin,
  complete,
  emptyManifest,
  keptSnapshots,
  type ManifestEntry,
} from '../../../loader/dataset/load.ts';

function entry(
  peildatum: string,
  kind: ManifestEntry['kind'] = 'extract',
  snapshot = peildatum,
): ManifestEntry {
  const counts = { voorkomens: 0, nummeraanduidingen: 0, addresses: 0, lists: 0, problems: 0 };
  const changes = { added: 0, changed: 0, removed: 0, listsChanged: 0, gemeenteChanged: 0 };
  const load = `${peildatum}-${kind}`;
  return {
    load,
    kind,
    peildatum,
    snapshot: { id: snapshot, segments: [], buckets: 1, reach: [] },
    identity: snapshot,
    source: null,
    extract: null,
    days: [],
    ...counts,
    ...changes,
    at: '',
  };
}

const publish = (manifest: typeof emptyManifest, one: ManifestEntry) =>
  complete(begin(manifest, one), 'now');

describe('the manifest', () => {
  it('publishes the pending load once it is complete', () => {
    const applying = begin(publish(emptyManifest, entry('1')), entry('2'));
    expect([applying.published?.peildatum, applying.pending?.peildatum]).toEqual(['1', '2']);
    const done = complete(applying, 'now');
    expect([
      done.published?.peildatum,
      done.pending,
      done.history.map(({ peildatum }) => peildatum),
    ]).toEqual(['2', null, ['2', '1']]);
    expect(complete(done, 'later')).toBe(done);
  });

  it('records what was rolled back until it is loaded again', () => {
    const back = publish(
      publish(publish(emptyManifest, entry('1')), entry('2')),
      entry('1', 'rollback'),
    );
    expect(back.rejected).toEqual(['2']);
    expect(publish(back, entry('3')).rejected).toEqual(['2']);
    expect(publish(back, entry('2')).rejected).toEqual([]);
  });

  it('keeps the last snapshots, each once, and always the live and the pending one', () => {
    const three = ['1', '2', '3'].reduce(
      (manifest, peildatum) => publish(manifest, entry(peildatum)),
      emptyManifest,
    );
    expect([...keptSnapshots(three, 2)]).toEqual(['3', '2']);
    const back = publish(three, entry('1', 'rollback', '1'));
    expect([...keptSnapshots(back, 2)]).toEqual(['1', '3']);
    expect([...keptSnapshots(begin(back, entry('4')), 1)]).toEqual(['1', '4']);
  });
});
