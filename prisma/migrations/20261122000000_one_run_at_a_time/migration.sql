-- Ends runs that earlier processes left running: the index below allows one, and no process knows their settings.
UPDATE "runs" SET "status" = 'failed', "verdict" = 'inconclusive', "finished_at" = now(),
  "document" = "document" || '{"status": "failed", "sentences": ["The lab was upgraded during the run."]}'
WHERE "status" = 'running';

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "assignment" JSONB,
ADD COLUMN     "opened_by" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "phase" TEXT NOT NULL DEFAULT 'open';

-- CreateIndex
CREATE UNIQUE INDEX "runs_one_running" ON "runs"("status") WHERE (status = 'running');
