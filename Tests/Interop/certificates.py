"""Two authorities, and a certificate by the first one for each of two hosts, each with its key beside it."""

import subprocess

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def write(folder):
    """`ca.pem` and `other-ca.pem`, and by the first `localhost.pem` and `elsewhere.example.pem`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("ca", "other-ca"):
        openssl(folder, "req", "-x509", *KEY, "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key",
                "-out", f"{name}.pem")
    for host in ("localhost", "elsewhere.example"):
        openssl(folder, "req", *KEY, "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}",
                "-keyout", f"{host}.key", "-out", f"{host}.csr")
        openssl(folder, "x509", "-req", "-in", f"{host}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-copy_extensions", "copy", "-out", f"{host}.pem")


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
