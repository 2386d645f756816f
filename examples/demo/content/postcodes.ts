/** The letters that end a British postcode. */
const unitLetters = [...'ABDEFGHJLNPQRSTUWXYZ'];
const sectors = [1, 2, 3, 4, 5, 6, 7, 8];

/** Lists the postcodes as a company would paste them from its own list. */
export function postcodesOf(districts: ReadonlyArray<string>): string {
  const units = unitLetters.flatMap((first) => unitLetters.map((second) => first + second));
  return districts
    .flatMap((district) => sectors.flatMap((sector) => units.map((unit) => `${district} ${sector}${unit}`)))
    .join(', ');
}
