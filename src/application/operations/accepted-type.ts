/**
 * The media type that an `Accept` header prefers; JSON if it names none of them.
 * @param others media types that can be answered next to JSON
 * @returns one of the others; null for JSON
 */
export function acceptedType<Type extends string>(
  accept: string | undefined,
  others: ReadonlyArray<Type>,
): Type | null {
  const wanted = (accept ?? '')
    .split(',')
    .map(preferenceOf)
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality);
  for (const { type } of wanted) {
    if (json.has(type)) return null;
    const found = others.find((other) => other === type);
    if (found !== undefined) return found;
  }
  return null;
}

const json = new Set(['application/json', 'application/*', '*/*']);

function preferenceOf(range: string): { readonly type: string; readonly quality: number } {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return { type, quality: Number(quality) };
}
