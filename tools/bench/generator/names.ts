import type { Random } from './random.ts';

const stems = [
  'Kerk',
  'Dorps',
  'Molen',
  'School',
  'Stations',
  'Beatrix',
  'Wilhelmina',
  'Juliana',
  'Eiken',
  'Beuken',
  'Linden',
  'Kastanje',
  'Meidoorn',
  'Veld',
  'Nieuwe ',
  'Oude ',
  'Noorder',
  'Zuider',
  'Ooster',
  'Wester',
  'Haven',
  'Markt',
  'Raadhuis',
  'Parallel',
  'Boom',
  'Wilgen',
  'Rozen',
  'Tulpen',
  'Vondel',
  'Rembrandt',
  'Jozef Israëls',
  'Bührmann',
  'Willem de Mérode',
  'Thorbecke',
  'Sint Jan',
  'Prins Hendrik',
  'Anna van Saksen',
  'Jan van Goyen',
  'Van Limburg ',
  'Burgemeester ',
  'Pastoor ',
  'Dokter ',
  'Prof. Dr. ',
  'Mr.J.C.',
  'Generaal ',
  'Admiraal ',
  'Graaf ',
];
const surnames = [
  'de Vries',
  'Jansen',
  'van Dijk',
  'Bakker',
  'Visser',
  'Smits',
  'Mulder',
  'de Boer',
  'Dekkers',
  'Bos',
];
const endings = [
  'straat',
  'straat',
  'straat',
  'weg',
  'weg',
  'laan',
  'laan',
  'plein',
  'hof',
  'pad',
  'kade',
  'singel',
  'dijk',
];
const odd = [
  "'t Nauwe Steegje",
  '’s-Gravelandseweg',
  "Achter 't Vosje",
  'A.B.C.-straat',
  'Smit & Zoon-pad',
  'Plein 1940-1945',
];

/**
 * A street name in the manner of the register, now and then with an apostrophe, a diacritic or an
 * ampersand.
 */
export function streetName(random: Random): string {
  if (random.chance(0.01)) return random.pick(odd);
  const stem = random.pick(stems);
  const ending = random.pick(endings);
  return stem.endsWith(' ') || stem.endsWith('.')
    ? `${stem}${random.pick(surnames)}${ending}`
    : `${stem}${ending}`;
}

const placeStems = [
  'Noord',
  'Zuid',
  'Ooster',
  'Wester',
  'Nieuw',
  'Oud',
  "'s-Heeren",
  'Sint ',
  'Hoog',
  'Laag',
  'Wâld',
  'Klein ',
];
const placeEndings = [
  'dorp',
  'wijk',
  'veen',
  'burg',
  'broek',
  'kerk',
  'sluis',
  'hoek',
  'beek',
  'zand',
  'drecht',
  'huizen',
  'ië',
];

/** A place name; `index` makes it the only one of its name. */
export function placeName(random: Random, index: number): string {
  const letters = String.fromCharCode(
    97 + (index % 26),
    97 + (Math.floor(index / 26) % 26),
    97 + Math.floor(index / 676),
  );
  return `${random.pick(placeStems)}${letters}${random.pick(placeEndings)}`;
}
