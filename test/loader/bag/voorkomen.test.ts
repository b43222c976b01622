import { describe, expect, it } from '@jest/globals';
import { geldigheidOf, type Occurrence } from '../../../loader/bag/interpret-stand.ts';
import { dayOf, dayText, noEind, whyNotCurrent } from '../../../loader/bag/voorkomen.ts';

const moment = '2020-01-01T10:00:00.000';
const since2010: Occurrence = {
  identificatie: '0457200000199640',
  status: 'Naamgeving uitgegeven',
  voorkomenidentificatie: '1',
  beginGeldigheid: '2010-01-01',
};

describe('an occurrence on 2021-10-15', () => {
  it.each<[string, Partial<Occurrence>, string | null]>([
    ['counts since it began', {}, null],
    ['counts on the day it begins', { beginGeldigheid: '2021-10-15' }, null],
    ['does not count on the day before it begins', { beginGeldigheid: '2021-10-16' }, 'future'],
    ['counts on the day before it ends', { eindGeldigheid: '2021-10-16' }, null],
    ['does not count on the day it ends', { eindGeldigheid: '2021-10-15' }, 'ended'],
    ['never counts when it ends on the day it begins', { eindGeldigheid: '2010-01-01' }, 'ended'],
    [
      'does not count when that day is today',
      { beginGeldigheid: '2021-10-15', eindGeldigheid: '2021-10-15' },
      'ended',
    ],
    [
      'does not count when withdrawn, without an end date',
      { status: 'Naamgeving ingetrokken' },
      'withdrawn',
    ],
    ['does not count with a tijdstipInactief', { tijdstipInactief: moment }, 'inactive'],
    ['does not count with a tijdstipInactiefLV', { tijdstipInactiefLV: moment }, 'inactive'],
    ['does not count with a tijdstipNietBagLV', { tijdstipNietBagLV: moment }, 'not_bag'],
    [
      'is withdrawn before it is anything else',
      { status: 'Naamgeving ingetrokken', eindGeldigheid: '2011-01-01' },
      'withdrawn',
    ],
  ])('%s', (_, change, reason) => {
    const geldigheid = geldigheidOf('NUM', { ...since2010, ...change }, 'file');
    expect(whyNotCurrent(geldigheid, dayOf('2021-10-15'))).toBe(reason);
  });
});

describe('a date', () => {
  it.each([
    ['2021-10-15', 20_211_015],
    ['0985-01-31', 9_850_131],
    ['9999-12-31', 99_991_231],
  ])('%s is a number, and back', (date, day) => {
    expect([dayOf(date), dayText(day)]).toEqual([day, date]);
  });

  it('is before the end of an occurrence that has none, which has as many digits', () => {
    expect(dayOf('9999-12-31')).toBeLessThan(noEind);
    expect(String(noEind)).toHaveLength(String(dayOf('9999-12-31')).length);
  });
});
