import { answerHotRequest } from "@/lib/http/hot-request";

export const dynamic = "force-dynamic";

interface Context {
  readonly params: Promise<{ readonly id: string }>;
}

async function answer(request: Request, { params }: Context): Promise<Response> {
  return answerHotRequest(request, { kind: "product", idText: (await params).id });
}

// Every method goes to the one function, which knows which are allowed.
export { answer as DELETE, answer as GET, answer as PATCH, answer as POST, answer as PUT };
