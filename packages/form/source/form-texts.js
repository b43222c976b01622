/**
 * Texts of the element, by language. A page replaces those that it wants by `texts`. Each `{}` is
 * a value: an address, a street with its town, or toevoegingen.
 */
export const texts = {
  nl: {
    hint: 'Vul de postcode en het huisnummer in. Wij zoeken de straat en de woonplaats erbij.',
    none: 'geen',
    choose: 'Kies',
    toevoeging: 'Toevoeging:',
    several: 'Er zijn meer adressen met dit nummer. Welk is het?',
    needsToevoeging: 'Bij dit huisnummer hoort een toevoeging: {}',
    unknownToevoeging: 'Toevoeging {} staat hier niet in het register.',
    near: 'Het huisnummer hoort bij {}.',
    notFound:
      'Dit adres staat niet in het register. Controleer het, of vul de straat en de woonplaats zelf in.',
    slow: 'We zoeken het adres op ...',
    unavailable: 'We kunnen het adres nu niet opzoeken. Vul de straat en de woonplaats zelf in.',
    differs: 'Volgens het register is dit {}.',
    readAs: 'Wij lezen dit als {}.',
    take: 'Overnemen',
    'wrong-postcode': 'Controleer de postcode: vier cijfers en twee letters, zoals 1012 JS.',
    'wrong-huisnummer':
      'Controleer het huisnummer: een getal van 1 tot 99999. De toevoeging staat ernaast.',
  },
  en: {
    hint: 'Type the postcode and the house number. We look up the street and the town.',
    none: 'none',
    choose: 'Choose',
    toevoeging: 'Addition:',
    several: 'There are several addresses with this number. Which one is it?',
    needsToevoeging: 'This house number has an addition: {}',
    unknownToevoeging: "The register doesn't have addition {} here.",
    near: 'The house number belongs to {}.',
    notFound:
      "The register doesn't have this address. Check it, or type the street and the town yourself.",
    slow: 'Looking up the address ...',
    unavailable: "We can't look up the address now. Type the street and the town yourself.",
    differs: 'According to the register this is {}.',
    readAs: 'We read this as {}.',
    take: 'Use it',
    'wrong-postcode': 'Check the postcode: four digits and two letters, such as 1012 JS.',
    'wrong-huisnummer':
      'Check the house number: a number from 1 to 99999. The addition is beside it.',
  },
};
