// Serves Toxiproxy's HTTP API on 127.0.0.1 at the port of the first argument, until its standard input ends.
package main

import (
	"io"
	"os"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

func main() {
	toxiproxy.Version = "2.5.0"
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	go server.Listen("127.0.0.1", os.Args[1])
	io.Copy(io.Discard, os.Stdin)
}
