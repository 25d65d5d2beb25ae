import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Hono } from 'hono';
import type { ApiEnv } from '../../env.ts';

/** Served from the package, so that the page needs no other host. */
const ASSETS: { readonly [name: string]: string } = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Batchgate API</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', deepLinking: true, showExtensions: true, validatorUrl: null });\n`;

/** Its own files and what Swagger UI needs besides: style attributes, and images inside its style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `/docs`: the reference page of `/openapi.json`. */
export function docsRouter(): Hono<ApiEnv> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const app = new Hono<ApiEnv>();
  app.get('/docs', (c) => c.html(PAGE, 200, { 'Content-Security-Policy': POLICY }));
  app.get('/docs/start.js', (c) => c.body(START, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }));
  app.get('/docs/:asset', async (c) => {
    const name = c.req.param('asset');
    const type = ASSETS[name];
    if (type === undefined) return c.notFound();
    return c.body(await readFile(join(folder, name)), 200, { 'Content-Type': type, 'Cache-Control': 'max-age=3600' });
  });
  return app;
}
