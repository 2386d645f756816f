import type { Client, Reply } from '#test/support/service/client.ts';
import { expectStatus } from './expect.ts';

const boundary = 'the-boundary';

/** The part of a file's record that tests read. */
type Uploaded = { readonly id: string; readonly bytes: number };

/** Uploads a text as a file. */
export async function uploadText(client: Client, content: string, named?: Parameters<typeof sendText>[2]) {
  return expectStatus(await sendText(client, content, named), 200);
}

/** Uploads a text as a file, whatever the answer is. */
export function sendText(
  client: Client,
  content: string,
  { filename = 'notes.txt', purpose = 'user_data' } = {},
): Promise<Reply<Uploaded>> {
  const part = (disposition: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
  const body = `${part('name="purpose"', purpose)}${part(`name="file"; filename="${filename}"`, content)}--${boundary}--\r\n`;
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return client.send<Uploaded>({ method: 'POST', path: '/v1/files', headers, body });
}
