import type { Client } from '#test/support/service/client.ts';
import { expectStatus } from './expect.ts';

const boundary = 'the-boundary';

/** Uploads a text as a file. @returns the part of its record that tests read */
export async function uploadText(
  client: Client,
  content: string,
  { filename = 'notes.txt', purpose = 'user_data' } = {},
): Promise<{ readonly id: string; readonly bytes: number }> {
  const part = (disposition: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`;
  const body = `${part('name="purpose"', purpose)}${part(`name="file"; filename="${filename}"`, content)}--${boundary}--\r\n`;
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  const sent = await client.send<{ readonly id: string; readonly bytes: number }>({
    method: 'POST',
    path: '/v1/files',
    headers,
    body,
  });
  return expectStatus(sent, 200);
}
