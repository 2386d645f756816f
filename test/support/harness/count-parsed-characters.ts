/** Calls a function and counts the characters that `JSON.parse` parses until its result settles. */
export async function countParsedCharacters<Result>(
  run: () => Promise<Result> | Result,
): Promise<{ readonly result: Result; readonly characters: number }> {
  const { parse } = JSON;
  let characters = 0;
  JSON.parse = (text: string, ...rest) => {
    characters += text.length;
    return parse(text, ...rest);
  };
  try {
    return { result: await run(), characters };
  } finally {
    JSON.parse = parse;
  }
}
