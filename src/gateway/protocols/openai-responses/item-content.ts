import type { ImagePart } from '#gateway/neutral/conversation.ts';
import { fileSourceOf, sourceOf } from '#gateway/neutral/source.ts';
import {
  type ContentPart,
  filePart,
  imageDetail,
  partsReader,
  refusalPart,
  textPart,
} from '#gateway/protocols/content-parts.ts';
import type { LeftOut } from '#gateway/protocols/left-out.ts';
import { placedText } from '#gateway/protocols/parsing.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** The members that identify an item, for the gateway alone. */
export const itemMembers = ['type', 'id'] as const;

export const partsOf = partsReader([
  ['text', textPart],
  ['input_text', textPart],
  ['output_text', textPart],
  ['refusal', refusalPart],
  ['input_image', imagePart],
  ['input_file', inlineFile],
]);

function imagePart(part: JsonObject, pointer: string, leftOut: LeftOut): ImagePart | null {
  const { image_url: url, detail } = leftOut.read(part, pointer, ['type', 'image_url', 'detail']);
  if (typeof url !== 'string') return null;
  return { kind: 'image', source: sourceOf(url), detail: imageDetail(detail, `${pointer}/detail`), pointer };
}

function inlineFile(part: JsonObject, pointer: string, leftOut: LeftOut): ContentPart | null {
  const read = leftOut.read(part, pointer, ['type', 'file_data', 'file_url', 'filename']);
  const { file_data: data, file_url: url, filename } = read;
  const name = placedText(filename, `${pointer}/filename`);
  if (typeof data === 'string') {
    leftOut.addValue(url, `${pointer}/file_url`);
    return filePart(fileSourceOf(data), name, pointer, leftOut);
  }
  return typeof url === 'string' ? filePart(sourceOf(url), name, pointer, leftOut) : null;
}
