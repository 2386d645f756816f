const bytesOfCharacter = 8;
const bytesOfContainer = 56;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * The memory that a JSON text takes when it is parsed, in bytes: an estimate on the high side. Text takes little;
 * arrays and objects, however empty, take 56 bytes each in V8, for the two characters that they are written with.
 */
export function heapBytes(json: string): number {
  let containers = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === openBracket || code === openBrace) containers += 1;
  }
  return bytesOfCharacter * json.length + bytesOfContainer * containers;
}

/** The same for a text of which only the length is known: the most that it can take. */
export function maxHeapBytes(characters: number): number {
  return (bytesOfCharacter + bytesOfContainer / 2) * characters;
}
