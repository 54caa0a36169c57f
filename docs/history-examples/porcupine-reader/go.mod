module flash-sale-lab/porcupine-reader

go 1.21

require github.com/anishathalye/porcupine v1.3.1
