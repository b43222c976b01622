/**
 * The gemeenten by code, with their names and provincies: all of 2023, and all others that existed
 * since 2009. Facts of CBS (gebiedsindelingen) and RvIG (landelijke tabel 33) as of 2023-01-01. The
 * BAG has the codes alone.
 */

/** A gemeente in a response; its names are `null` if this table lacks its code. */
export type Gemeente = { code: string; naam: string | null; provincie: string | null };

/** For each provincie its gemeenten, `code naam`, in the order of their codes. */
const byProvincie = `Drenthe:
0106 Assen; 0109 Coevorden; 0114 Emmen; 0118 Hoogeveen; 0119 Meppel; 1680 Aa en Hunze; 1681 Borger-Odoorn;
1690 De Wolden; 1699 Noordenveld; 1701 Westerveld; 1730 Tynaarlo; 1731 Midden-Drenthe
Flevoland:
0034 Almere; 0050 Zeewolde; 0171 Noordoostpolder; 0184 Urk; 0303 Dronten; 0995 Lelystad
Fryslân:
0051 Skarsterlân; 0055 Boarnsterhim; 0058 Dongeradeel; 0059 Achtkarspelen; 0060 Ameland; 0063 het Bildt;
0064 Bolsward; 0065 Dantumadeel; 0070 Franekeradeel; 0072 Harlingen; 0074 Heerenveen;
0079 Kollumerland en Nieuwkruisland; 0080 Leeuwarden; 0081 Leeuwarderadeel; 0082 Lemsterland; 0083 Menaldumadeel;
0085 Ooststellingwerf; 0086 Opsterland; 0088 Schiermonnikoog; 0090 Smallingerland; 0091 Sneek; 0093 Terschelling;
0096 Vlieland; 0098 Weststellingwerf; 0104 Nijefurd; 0140 Littenseradiel; 0653 Gaasterlân-Sleat;
0683 Wymbritseradiel; 0710 Wûnseradiel; 0737 Tytsjerksteradiel; 1722 Ferwerderadiel; 1891 Dantumadiel;
1900 Súdwest-Fryslân; 1908 Menameradiel; 1921 De Friese Meren; 1940 De Fryske Marren; 1949 Waadhoeke;
1970 Noardeast-Fryslân
Gelderland:
0196 Rijnwaarden; 0197 Aalten; 0200 Apeldoorn; 0202 Arnhem; 0203 Barneveld; 0209 Beuningen; 0213 Brummen; 0214 Buren;
0216 Culemborg; 0221 Doesburg; 0222 Doetinchem; 0225 Druten; 0226 Duiven; 0228 Ede; 0230 Elburg; 0232 Epe;
0233 Ermelo; 0236 Geldermalsen; 0241 Groesbeek; 0243 Harderwijk; 0244 Hattem; 0246 Heerde; 0252 Heumen; 0262 Lochem;
0263 Maasdriel; 0265 Millingen aan de Rijn; 0267 Nijkerk; 0268 Nijmegen; 0269 Oldebroek; 0273 Putten; 0274 Renkum;
0275 Rheden; 0277 Rozendaal; 0279 Scherpenzeel; 0281 Tiel; 0282 Ubbergen; 0285 Voorst; 0289 Wageningen;
0293 Westervoort; 0294 Winterswijk; 0296 Wijchen; 0297 Zaltbommel; 0299 Zevenaar; 0301 Zutphen; 0302 Nunspeet;
0304 Neerijnen; 0668 West Maas en Waal; 0733 Lingewaal; 1509 Oude IJsselstreek; 1586 Oost Gelre; 1705 Lingewaard;
1734 Overbetuwe; 1740 Neder-Betuwe; 1859 Berkelland; 1876 Bronckhorst; 1945 Berg en Dal; 1955 Montferland;
1960 West Betuwe
Groningen:
0003 Appingedam; 0005 Bedum; 0007 Bellingwedde; 0009 Ten Boer; 0010 Delfzijl; 0014 Groningen; 0015 Grootegast;
0017 Haren; 0018 Hoogezand-Sappemeer; 0022 Leek; 0024 Loppersum; 0025 Marum; 0037 Stadskanaal; 0039 Scheemda;
0040 Slochteren; 0047 Veendam; 0048 Vlagtwedde; 0052 Winschoten; 0053 Winsum; 0056 Zuidhorn; 0765 Pekela;
1651 Eemsmond; 1661 Reiderland; 1663 De Marne; 1895 Oldambt; 1950 Westerwolde; 1952 Midden-Groningen;
1966 Het Hogeland; 1969 Westerkwartier; 1979 Eemsdelta; 1987 Menterwolde
Limburg:
0881 Onderbanken; 0882 Landgraaf; 0885 Arcen en Velden; 0888 Beek; 0889 Beesel; 0893 Bergen (L); 0899 Brunssum;
0905 Eijsden; 0907 Gennep; 0917 Heerlen; 0918 Helden; 0928 Kerkrade; 0929 Kessel; 0934 Maasbree; 0935 Maastricht;
0936 Margraten; 0938 Meerssen; 0941 Meijel; 0944 Mook en Middelaar; 0946 Nederweert; 0951 Nuth; 0957 Roermond;
0962 Schinnen; 0964 Sevenum; 0965 Simpelveld; 0971 Stein; 0981 Vaals; 0983 Venlo; 0984 Venray; 0986 Voerendaal;
0988 Weert; 0993 Meerlo-Wanssum; 0994 Valkenburg aan de Geul; 1507 Horst aan de Maas; 1640 Leudal; 1641 Maasgouw;
1669 Roerdalen; 1711 Echt-Susteren; 1729 Gulpen-Wittem; 1883 Sittard-Geleen; 1894 Peel en Maas;
1903 Eijsden-Margraten; 1954 Beekdaelen
Noord-Brabant:
0738 Aalburg; 0743 Asten; 0744 Baarle-Nassau; 0748 Bergen op Zoom; 0753 Best; 0755 Boekel; 0756 Boxmeer; 0757 Boxtel;
0758 Breda; 0762 Deurne; 0766 Dongen; 0770 Eersel; 0772 Eindhoven; 0777 Etten-Leur; 0779 Geertruidenberg;
0784 Gilze en Rijen; 0785 Goirle; 0786 Grave; 0788 Haaren; 0794 Helmond; 0796 's-Hertogenbosch; 0797 Heusden;
0798 Hilvarenbeek; 0808 Lith; 0809 Loon op Zand; 0815 Mill en Sint Hubert; 0820 Nuenen, Gerwen en Nederwetten;
0823 Oirschot; 0824 Oisterwijk; 0826 Oosterhout; 0828 Oss; 0840 Rucphen; 0844 Schijndel; 0845 Sint-Michielsgestel;
0846 Sint-Oedenrode; 0847 Someren; 0848 Son en Breugel; 0851 Steenbergen; 0855 Tilburg; 0856 Uden; 0858 Valkenswaard;
0860 Veghel; 0861 Veldhoven; 0865 Vught; 0866 Waalre; 0867 Waalwijk; 0870 Werkendam; 0873 Woensdrecht;
0874 Woudrichem; 0879 Zundert; 1652 Gemert-Bakel; 1655 Halderberge; 1658 Heeze-Leende; 1659 Laarbeek;
1667 Reusel-De Mierden; 1671 Maasdonk; 1674 Roosendaal; 1684 Cuijk; 1685 Landerd; 1702 Sint Anthonis;
1706 Cranendonck; 1709 Moerdijk; 1719 Drimmelen; 1721 Bernheze; 1723 Alphen-Chaam; 1724 Bergeijk; 1728 Bladel;
1771 Geldrop-Mierlo; 1948 Meierijstad; 1959 Altena; 1982 Land van Cuijk; 1991 Maashorst
Noord-Holland:
0358 Aalsmeer; 0361 Alkmaar; 0362 Amstelveen; 0363 Amsterdam; 0364 Andijk; 0365 Graft-De Rijp; 0366 Anna Paulowna;
0370 Beemster; 0372 Bennebroek; 0373 Bergen (NH); 0375 Beverwijk; 0376 Blaricum; 0377 Bloemendaal; 0381 Bussum;
0383 Castricum; 0384 Diemen; 0385 Edam-Volendam; 0388 Enkhuizen; 0392 Haarlem; 0393 Haarlemmerliede en Spaarnwoude;
0394 Haarlemmermeer; 0395 Harenkarspel; 0396 Heemskerk; 0397 Heemstede; 0398 Heerhugowaard; 0399 Heiloo;
0400 Den Helder; 0402 Hilversum; 0405 Hoorn; 0406 Huizen; 0412 Niedorp; 0415 Landsmeer; 0416 Langedijk; 0417 Laren;
0420 Medemblik; 0424 Muiden; 0425 Naarden; 0431 Oostzaan; 0432 Opmeer; 0437 Ouder-Amstel; 0439 Purmerend;
0441 Schagen; 0448 Texel; 0450 Uitgeest; 0451 Uithoorn; 0453 Velsen; 0457 Weesp; 0458 Schermer; 0459 Wervershoof;
0462 Wieringen; 0463 Wieringermeer; 0473 Zandvoort; 0476 Zijpe; 0478 Zeevang; 0479 Zaanstad; 0498 Drechterland;
0532 Stede Broec; 0852 Waterland; 0880 Wormerland; 1598 Koggenland; 1696 Wijdemeren; 1911 Hollands Kroon;
1942 Gooise Meren; 1980 Dijk en Waard
Overijssel:
0141 Almelo; 0147 Borne; 0148 Dalfsen; 0150 Deventer; 0153 Enschede; 0158 Haaksbergen; 0160 Hardenberg;
0163 Hellendoorn; 0164 Hengelo (O); 0166 Kampen; 0168 Losser; 0173 Oldenzaal; 0175 Ommen; 0177 Raalte;
0180 Staphorst; 0183 Tubbergen; 0189 Wierden; 0193 Zwolle; 1700 Twenterand; 1708 Steenwijkerland;
1735 Hof van Twente; 1742 Rijssen-Holten; 1773 Olst-Wijhe; 1774 Dinkelland; 1896 Zwartewaterland
Utrecht:
0305 Abcoude; 0307 Amersfoort; 0308 Baarn; 0310 De Bilt; 0311 Breukelen; 0312 Bunnik; 0313 Bunschoten; 0317 Eemnes;
0321 Houten; 0327 Leusden; 0329 Loenen; 0331 Lopik; 0333 Maarssen; 0335 Montfoort; 0339 Renswoude; 0340 Rhenen;
0342 Soest; 0344 Utrecht; 0345 Veenendaal; 0351 Woudenberg; 0352 Wijk bij Duurstede; 0353 IJsselstein; 0355 Zeist;
0356 Nieuwegein; 0545 Leerdam; 0589 Oudewater; 0620 Vianen; 0632 Woerden; 0707 Zederik; 0736 De Ronde Venen;
1581 Utrechtse Heuvelrug; 1904 Stichtse Vecht; 1961 Vijfheerenlanden
Zeeland:
0654 Borsele; 0664 Goes; 0677 Hulst; 0678 Kapelle; 0687 Middelburg; 0703 Reimerswaal; 0715 Terneuzen; 0716 Tholen;
0717 Veere; 0718 Vlissingen; 1676 Schouwen-Duiveland; 1695 Noord-Beveland; 1714 Sluis
Zuid-Holland:
0482 Alblasserdam; 0483 Alkemade; 0484 Alphen aan den Rijn; 0489 Barendrecht; 0491 Bergambacht; 0497 Bodegraven;
0499 Boskoop; 0501 Brielle; 0502 Capelle aan den IJssel; 0503 Delft; 0504 Dirksland; 0505 Dordrecht; 0511 Goedereede;
0512 Gorinchem; 0513 Gouda; 0518 's-Gravenhage; 0523 Hardinxveld-Giessendam; 0530 Hellevoetsluis;
0531 Hendrik-Ido-Ambacht; 0534 Hillegom; 0537 Katwijk; 0542 Krimpen aan den IJssel; 0546 Leiden; 0547 Leiderdorp;
0553 Lisse; 0556 Maassluis; 0559 Middelharnis; 0563 Moordrecht; 0567 Nieuwerkerk aan den IJssel; 0568 Bernisse;
0569 Nieuwkoop; 0571 Nieuw-Lekkerland; 0575 Noordwijk; 0576 Noordwijkerhout; 0579 Oegstgeest; 0580 Oostflakkee;
0584 Oud-Beijerland; 0585 Binnenmaas; 0588 Korendijk; 0590 Papendrecht; 0595 Reeuwijk; 0597 Ridderkerk;
0599 Rotterdam; 0600 Rozenburg; 0603 Rijswijk; 0606 Schiedam; 0608 Schoonhoven; 0610 Sliedrecht; 0611 Cromstrijen;
0612 Spijkenisse; 0613 Albrandswaard; 0614 Westvoorne; 0617 Strijen; 0622 Vlaardingen; 0623 Vlist; 0626 Voorschoten;
0627 Waddinxveen; 0629 Wassenaar; 0637 Zoetermeer; 0638 Zoeterwoude; 0642 Zwijndrecht; 0643 Nederlek; 0644 Ouderkerk;
0645 Jacobswoude; 0689 Giessenlanden; 0693 Graafstroom; 0694 Liesveld; 1525 Teylingen; 1621 Lansingerland;
1666 Zevenhuizen-Moerkapelle; 1672 Rijnwoude; 1783 Westland; 1842 Midden-Delfland; 1884 Kaag en Braassem;
1892 Zuidplas; 1901 Bodegraven-Reeuwijk; 1916 Leidschendam-Voorburg; 1924 Goeree-Overflakkee;
1926 Pijnacker-Nootdorp; 1927 Molenwaard; 1930 Nissewaard; 1931 Krimpenerwaard; 1963 Hoeksche Waard;
1978 Molenlanden; 1992 Voorne aan Zee
`;

const known = new Map(
  byProvincie
    .trim()
    .split(/\n(?=\p{L})/u)
    .flatMap(gemeentenOf),
);

function gemeentenOf(text: string): [code: string, gemeente: Gemeente][] {
  const [provincie = '', ...lines] = text.split(/:?\n/);
  return lines
    .join(' ')
    .split(/; ?/)
    .filter(Boolean)
    .map((entry) => [
      entry.slice(0, 4),
      { code: entry.slice(0, 4), naam: entry.slice(5), provincie },
    ]);
}

/** Whether the table has the name of the gemeente with this code. */
export function isKnownGemeente(code: string): boolean {
  return known.has(code);
}

/** The gemeente with this code. */
export function gemeenteOf(code: string): Gemeente {
  return known.get(code) ?? { code, naam: null, provincie: null };
}
