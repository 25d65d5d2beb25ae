// Teaches zod to describe schemas for OpenAPI before any contract is made: where files share a process, one that imports a
// contract alone may come before the api's own.
import '@hono/zod-openapi';
