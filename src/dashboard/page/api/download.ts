import type { Api } from '#dashboard/page/api/api.ts';

/** Reads a file and gives it to the browser to store. A link cannot do this, because it sends no key. @throws ApiError */
export async function download(
  api: Api,
  path: string,
  name: string,
  headers: Record<string, string> = {},
): Promise<void> {
  const answer = await api.open(path, { headers });
  const address = URL.createObjectURL(await answer.blob());
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
