import { apiRoute } from "@/lib/http/api-route";
import { notFound } from "@/lib/http/errors";

export const dynamic = "force-dynamic";

/** Whatever no other route takes: the API answers in its own shape, not with a page. */
function answer(request: Request): Promise<Response> {
  return apiRoute(async () => {
    throw notFound(`${request.method} ${new URL(request.url).pathname.slice(0, 200)}`);
  });
}

export { answer as DELETE, answer as GET, answer as PATCH, answer as POST, answer as PUT };
