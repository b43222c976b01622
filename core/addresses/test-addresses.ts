import type { AdresObject } from '../adres-object.ts';
import type { AddressRequest } from '../contract.ts';
import type { StoredAddress } from './address-item.ts';
import { addressKey, bareKey } from './address-key.ts';
import type { AddressStore, FoundItems } from './address-store.ts';

/** Never issued: postcodes don't use the letters SA, SD and SS (decision 0121). */
const testPostcode = '9999SD';

/** Its gemeente has no name, like a code newer than the table; Teststad has no gemeente. */
const dorp = { straat: 'Teststraat', woonplaats: 'Testdorp', gemeente: '9999' };
const stad = { straat: 'Teststraat', woonplaats: 'Teststad' };

/** Each a metre further from the origin of the national grid, in Amersfoort. */
const locatie = (number: number) => ({ x: 155_000 + number, y: 463_000 });

const home: AdresObject = {
  identificatie: '9999010000000011',
  type: 'verblijfsobject',
  status: 'Verblijfsobject in gebruik',
  gebruiksdoelen: ['woonfunctie'],
  oppervlakte: 85,
  hoofdadres: true,
  locatie: locatie(11),
};
const replacement: AdresObject = {
  ...home,
  identificatie: '9999010000000012',
  status: 'Verblijfsobject gevormd',
  oppervlakte: 97,
};
const shop: AdresObject = {
  ...home,
  identificatie: '9999010000000021',
  gebruiksdoelen: ['winkelfunctie', 'woonfunctie'],
  oppervlakte: 120,
  hoofdadres: false,
  locatie: locatie(21),
};
const houseboat: AdresObject = {
  identificatie: '9999020000000022',
  type: 'ligplaats',
  status: 'Plaats aangewezen',
  hoofdadres: true,
  locatie: locatie(22),
};
const caravan: AdresObject = {
  ...houseboat,
  identificatie: '9999030000000031',
  type: 'standplaats',
  locatie: locatie(31),
};

/**
 * One is registered twice, one has toevoegingen only, one is in two towns. No municipality has
 * 9999.
 */
const testAddresses: StoredAddress[] = [
  {
    key: '9999SD#1#',
    places: [
      {
        ...dorp,
        objecten: [home, replacement],
        nummeraanduidingen: ['9999200000000011', '9999200000000012'],
      },
    ],
  },
  { key: '9999SD#2#', places: [], toevoegingen: ['A', 'B'] },
  {
    key: '9999SD#2#A',
    places: [{ ...dorp, objecten: [shop], nummeraanduidingen: ['9999200000000021'] }],
  },
  {
    key: '9999SD#2#B',
    places: [{ ...dorp, objecten: [houseboat], nummeraanduidingen: ['9999200000000022'] }],
  },
  {
    key: '9999SD#3#',
    places: [
      { ...dorp, objecten: [caravan], nummeraanduidingen: ['9999200000000031'] },
      { ...stad, nummeraanduidingen: ['9999200000000032'] },
    ],
  },
];

const byKey = new Map(testAddresses.map((address) => [address.key, address]));

/** The answer for a test address; `null` for every other postcode. */
function findTestAddress(request: AddressRequest): FoundItems | null {
  if (request.postcode !== testPostcode) return null;
  const key = addressKey(request);
  return { address: byKey.get(key), bare: byKey.get(bareKey(key)) };
}

/**
 * The store with the test addresses, which are the same in every deployment; their postcode is
 * never looked up.
 */
export function withTestAddresses(store: AddressStore): AddressStore {
  return {
    async find(request, include, signal) {
      return findTestAddress(request) ?? store.find(request, include, signal);
    },

    async findAll(requests, include, signal) {
      const tests = requests.map(findTestAddress);
      const others = requests.filter((_, i) => !tests[i]);
      const found = others.length > 0 ? await store.findAll(others, include, signal) : [];
      return tests.map((test) => test ?? (found.shift() as FoundItems));
    },
  };
}
