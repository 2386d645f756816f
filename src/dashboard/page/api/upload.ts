import { type ApiError, apiErrorOf, toApiError } from '#dashboard/page/api/api-error.ts';

export type Authorization = Readonly<Record<string, string>>;

export interface Upload {
  /** False if the upload was cancelled. Rejects with an `ApiError`. */
  readonly done: Promise<boolean>;
  readonly cancel: () => void;
}

/**
 * `fetch` shows no progress of a body, so this is an XMLHttpRequest.
 * @param onProgress is called with the part that is sent, from 0 to 1
 */
export function upload(
  path: string,
  form: FormData,
  headers: Authorization,
  onProgress: (part: number) => void,
): Upload {
  const request = new XMLHttpRequest();
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  request.open('POST', path);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
  request.onload = () => {
    if (request.status < 300) resolve(true);
    else reject(refusalOf(request));
  };
  request.onerror = () => reject(toApiError(null));
  request.onabort = () => resolve(false);
  request.send(form);
  return { done: promise, cancel: () => request.abort() };
}

function refusalOf(request: XMLHttpRequest): ApiError {
  const id = request.getResponseHeader('x-request-id');
  return apiErrorOf(request.status, new Headers(id === null ? {} : { 'x-request-id': id }), request.responseText);
}
