/** Runs something and counts the characters that `JSON.parse` is given meanwhile. */
export async function parsedCharacters<Result>(
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
