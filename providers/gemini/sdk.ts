import { GoogleGenAI } from '@google/genai';
import type { GeminiHttp } from './http.ts';

/**
 * The official SDK for one call: its requests go through `http`, which refuses redirects, keeps to the call's signal (the
 * SDK's uploads take none) and says what a refusal was. No option is left to the environment, and without retry options
 * the SDK sends each request once.
 */
export function createSdk({ apiKey, http, signal }: { apiKey: string; http: GeminiHttp; signal: AbortSignal }) {
  return new GoogleGenAI({
    apiKey,
    enterprise: false,
    httpOptions: {
      baseUrl: http.origin,
      apiVersion: 'v1beta',
      fetch: (url, init) => http.send(String(url), { ...init, method: init?.method ?? 'GET', signal }),
    },
  });
}
