/** Returns the line and the column of an offset, for a person. Both count from 1; columns count characters. */
export function lineAndColumn(bytes: Buffer, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let lineStart = 0;
  for (let feed = bytes.indexOf(0x0a); feed !== -1 && feed < offset; feed = bytes.indexOf(0x0a, feed + 1)) {
    line += 1;
    lineStart = feed + 1;
  }
  return { line, column: bytes.toString('utf8', lineStart, offset).length + 1 };
}
